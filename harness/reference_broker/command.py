"""The command `broker`."""

import errno
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.reference_broker.emulated_release import releases
from harness.reference_broker.server import run_broker
from harness.reference_broker.settings import (
    BrokerSettings,
    SettingError,
    folders_of,
    parse_assignments,
)
from harness.reference_broker.state.log.log_store import (
    FolderInUse,
    FolderOfAnother,
    NoDirectoryLeft,
    UnreadableLog,
)
from harness.reference_broker.state.registrations.brokers import Endpoint

if TYPE_CHECKING:
    from harness.reference_broker.cluster.broker_node import Joining

_MOST_NODES = 99


@dataclass(frozen=True)
class _Wanted:
    """The options of the command, as given."""

    host: str
    port: int
    given: dict[str, str]
    scram_users: tuple[str, ...]
    like: str
    nodes: int | None
    is_controller: bool
    join: str | None
    cluster_id: str | None
    data_dir: Path | None
    is_alone: bool
    controller_port: int | None
    internal_port: int
    ways: dict[Endpoint, Endpoint]


@click.command("broker")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=9092,
    show_default=True,
    help="Port to listen at; 0 takes a free one. Several nodes take this one and those behind it.",
)
@click.option(
    "--setting",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A broker setting by Kafka's name, such as message.max.bytes=2000. May be repeated.",
)
@click.option(
    "--add-scram",
    "scram_users",
    multiple=True,
    metavar="MECHANISM=[name=USER,password=${env:NAME}]",
    help="A user of a new cluster, with a password from the environment. May be repeated.",
)
@click.option(
    "--like",
    default="",
    metavar="RELEASE",
    help="Serve and behave as this release of Kafka: " + ", ".join(releases()) + ".",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, _MOST_NODES),
    help="Run a cluster of so many brokers, with a controller of its own, all in this process.",
)
@click.option("--controller", is_flag=True, help="Be the controller of a cluster, and no broker.")
@click.option(
    "--join", metavar="HOST:PORT", help="Be a broker of the cluster with this controller."
)
@click.option(
    "--cluster-id",
    metavar="ID",
    help="The cluster, for --controller, --controller-port and --join.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the logs here, as Kafka does, for the next start too; not with --nodes. "
    "Default: in memory.",
)
@click.option(
    "--controller-port",
    type=click.IntRange(0, 65535),
    help="Be controller and broker in one: the controller listens here, and others --join it.",
)
@click.option("--alone", is_flag=True, help="With --join: have one listener for all.")
@click.option(
    "--internal-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="With --join: where the listener for other brokers listens. Default: a free port.",
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    metavar="HOST:PORT=HOST:PORT",
    help="With --join: open connections to the first address at the second. May be repeated.",
)
@click.option("--verbose", is_flag=True, help="Log to stderr why connections are closed.")
def broker(
    host: str,
    port: int,
    assignments: tuple[str, ...],
    scram_users: tuple[str, ...],
    like: str,
    nodes: int | None,
    controller: bool,
    join: str | None,
    cluster_id: str | None,
    data_dir: Path | None,
    controller_port: int | None,
    alone: bool,
    internal_port: int,
    ways: tuple[str, ...],
    verbose: bool,
) -> None:
    """Run the built-in broker until interrupted: one node, or a replicated cluster.

    Prints a last line, `listening on HOST:PORT`, when clients may connect; several addresses with a
    comma between them.
    """
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    try:
        wanted = _Wanted(
            host,
            port,
            parse_assignments(assignments),
            scram_users,
            like,
            nodes,
            controller,
            join,
            cluster_id,
            data_dir,
            alone,
            controller_port,
            internal_port,
            dict(map(_way, ways)),
        )
        _run(wanted)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    except (FolderInUse, FolderOfAnother, UnreadableLog, NoDirectoryLeft) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"cannot listen at {host}:{port}: {_why(error)}") from error


def _run(wanted: _Wanted) -> None:
    """Run what the options describe; import a cluster's code only when needed."""
    is_combined = wanted.controller_port is not None
    given = [wanted.nodes is not None, wanted.is_controller, wanted.join is not None, is_combined]
    if sum(given) > 1:
        told = "--nodes, --controller, --join and --controller-port exclude each other: give one"
        raise click.UsageError(told)
    if wanted.data_dir is not None and wanted.nodes is not None:
        raise click.UsageError("--data-dir is the folder of one node, and --nodes runs several")
    if not any(given) and wanted.data_dir is None:
        run_broker(wanted.host, wanted.port, _settings(wanted))
        return
    from harness.reference_broker.cluster import running

    if wanted.nodes is not None:
        port, like = wanted.port, wanted.like
        running.run_cluster(
            running.ClusterPlan(
                wanted.nodes, wanted.host, port, wanted.given, like, wanted.scram_users
            )
        )
        return
    settings = _settings(wanted)
    data_dir = wanted.data_dir
    folder = None if data_dir is None else folders_of(settings, data_dir)[0]
    cluster_id = wanted.cluster_id or _cluster_id(folder)
    if wanted.is_controller:
        at = Endpoint(wanted.host, wanted.port)
        running.run_controller(settings, cluster_id, at, wanted.data_dir)
    elif wanted.controller_port is not None:
        at = Endpoint(wanted.host, wanted.controller_port)
        running.run_combined(settings, _joining(wanted, cluster_id, at))
    elif wanted.join is None:
        joining = _joining(wanted, cluster_id, Endpoint(wanted.host, 0))
        running.run_combined(settings, running.member_joining(joining, alone=True))
    elif wanted.cluster_id is None:
        raise click.UsageError("--join needs --cluster-id, the id that the controller was given")
    else:
        joining = _joining(wanted, cluster_id, _endpoint(wanted.join or "", "--join"))
        running.run_member(settings, running.member_joining(joining, alone=wanted.is_alone))


def _settings(wanted: _Wanted) -> BrokerSettings:
    return BrokerSettings.of(wanted.given, wanted.like, wanted.scram_users)


def _cluster_id(folder: Path | None) -> str:
    """Return the cluster id noted in the folder, or a new one."""
    from harness.reference_broker.cluster.running import new_cluster_id
    from harness.reference_broker.storage.node_files import cluster_id_in

    found = None if folder is None else cluster_id_in(folder)
    return found or new_cluster_id()


def _joining(wanted: _Wanted, cluster_id: str, controller: Endpoint) -> "Joining":
    from harness.reference_broker.cluster.broker_node import Joining

    return Joining(
        cluster_id,
        controller,
        wanted.host,
        wanted.port,
        wanted.internal_port,
        wanted.data_dir,
        wanted.ways,
    )


def _way(text: str) -> tuple[Endpoint, Endpoint]:
    told, _, instead = text.partition("=")
    return _endpoint(told, "--way"), _endpoint(instead, "--way")


def _endpoint(text: str, option: str) -> Endpoint:
    host, separator, port = text.rpartition(":")
    if not separator or not host or not port.isdigit():
        raise click.UsageError(f"{option} takes HOST:PORT, not {text!r}")
    return Endpoint(host, int(port))


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken; give another with --port, or --port 0 for a free one"
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
