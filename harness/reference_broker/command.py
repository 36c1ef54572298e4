"""The command `broker`."""

import errno
import logging
import os

import click

from harness.reference_broker.likeness import releases
from harness.reference_broker.server import run_broker
from harness.reference_broker.settings import BrokerSettings, SettingError, parse_assignments


@click.command("broker")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=9092,
    show_default=True,
    help="Port to listen at; 0 takes a free one.",
)
@click.option(
    "--setting",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A broker setting by Kafka's name, such as message.max.bytes=2000. May be repeated.",
)
@click.option(
    "--like",
    default="",
    metavar="RELEASE",
    help="Serve and behave as this release of Kafka: " + ", ".join(releases()) + ".",
)
@click.option("--verbose", is_flag=True, help="Tell on stderr why connections are closed.")
def broker(host: str, port: int, assignments: tuple[str, ...], like: str, verbose: bool) -> None:
    """Run the built-in broker: one node, in memory, until interrupted.

    Prints one line, `listening on HOST:PORT`, when clients may connect.
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    try:
        settings = BrokerSettings.of(parse_assignments(assignments), like)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    try:
        run_broker(host, port, settings)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"cannot listen at {host}:{port}: {_why(error)}") from error


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken; give another with --port, or --port 0 for a free one"
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
