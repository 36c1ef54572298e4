"""``kafka-conformance codec pcap``: the conversation in a packet capture."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from harness.base.suggestion import did_you_mean
from harness.capture.capture_file import CaptureFile
from harness.capture.errors import CaptureError
from harness.capture.follow import Follower
from harness.capture.key_log import read_key_log
from harness.capture.lines import connection_line, line_of, object_of, totals_line, totals_object
from harness.capture.selection import Selection
from harness.codec.apis import APIS


@click.command("pcap")
@click.argument("file", metavar="FILE")
@click.option("--port", "ports", type=click.IntRange(1, 65535), multiple=True,
              help="Port of a broker: only its connections, and those even when no request in them "
              "can be read. May be repeated.")  # fmt: skip
@click.option("--api", "apis", metavar="NAME", multiple=True,
              help="Only this API; may be repeated.")  # fmt: skip
@click.option("--client-id", "client_ids", metavar="GLOB", multiple=True,
              help="Only requests of these clients, and their responses.")  # fmt: skip
@click.option("--topic", "topics", metavar="GLOB", multiple=True,
              help="Only messages that name such a topic, and the responses to them.")  # fmt: skip
@click.option("--errors", is_flag=True,
              help="Only responses that hold an error code, with their requests, and what could "
              "not be decoded.")  # fmt: skip
@click.option("--keylog", type=click.Path(path_type=Path), metavar="FILE",
              help="Decrypt TLS with the secrets in FILE, as SSLKEYLOGFILE makes clients write "
              "them.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
@click.option("--verbose", is_flag=True, help="Show the decoded bodies, too.")
def pcap_command(
    file: str,
    ports: tuple[int, ...],
    apis: tuple[str, ...],
    client_ids: tuple[str, ...],
    topics: tuple[str, ...],
    errors: bool,
    keylog: Path | None,
    as_json: bool,
    verbose: bool,
) -> None:
    """Print the Kafka conversations in FILE (pcap or pcapng, gzipped too; - reads standard input).

    TCP is put together again, responses are paired with their requests, and a capture may begin
    in the middle. What was lost or cannot be read is said, and the rest goes on.

    Exit 0: read to the end; 1: FILE is no capture, the key log is none, or scapy (cryptography for
    --keylog) is not installed; 2: usage.
    """
    selection = Selection(_known(apis), client_ids, topics, errors)
    try:
        key_log = read_key_log(keylog) if keylog is not None else None
        follower = Follower(ports, key_log=key_log)
        capture = CaptureFile(file if file != "-" else sys.stdin.buffer)
        introduced: set[int] = set()
        for event in follower.events(capture):
            for chosen in selection.choose(event):
                if as_json:
                    click.echo(json.dumps(object_of(chosen, verbose=verbose)))
                    continue
                if chosen.connection.number not in introduced:
                    introduced.add(chosen.connection.number)
                    click.echo(connection_line(chosen))
                click.echo(line_of(chosen, verbose=verbose))
    except CaptureError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps(totals_object(follower.totals, capture.counts)))
    else:
        click.echo(totals_line(follower.totals, capture.counts))


def _known(names: tuple[str, ...]) -> frozenset[str]:
    by_lower = {api.name.lower(): api.name for api in APIS.values()}
    for name in names:
        if name.lower() not in by_lower:
            raise click.UsageError(f"no API {name!r}{did_you_mean(name, list(by_lower.values()))}")
    return frozenset(by_lower[name.lower()] for name in names)
