"""``kafka-conformance codec transcode``: JSON lines in, JSON lines out, one for one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import BufferedIOBase
from typing import cast

import click

from harness.codec.transcode import transcode_line

_CHUNK_BYTES = 65536


@click.command("transcode")
def transcode_command() -> None:
    """Decode, show and encode JSON lines, one for one.

    \b
    {"kind": "request"|"response", "api_key": 1, "version": 12, "hex": "..."}
    {"kind": "request_header"|"response_header", "version": 2, "hex": "..."}
    {"kind": "data", "name": "ConsumerProtocolSubscription", "version": 1, "hex": "..."}
    {"kind": "records", "hex": "..."}

    Each may name a "release". The answer is {"hex": ..., "value": ...} or
    {"error": {"type", "message", "field", "offset"}}; a bad line is answered like any other. All
    that has been read is answered before more is waited for.
    """
    out = sys.stdout.buffer
    for lines in line_groups(cast("BufferedIOBase", sys.stdin.buffer)):
        out.write(b"".join([transcode_line(line) + b"\n" for line in lines]))
        out.flush()


def line_groups(stream: BufferedIOBase) -> Iterator[list[bytes]]:
    """Lines without their ends, as many at once as have arrived; what is left at the end too."""
    begun: list[bytes] = []  # pieces of a line that is not complete yet
    while chunk := stream.read1(_CHUNK_BYTES):
        first, *rest = chunk.split(b"\n")
        begun.append(first)
        if rest:
            lines = [b"".join(begun), *rest[:-1]]
            begun = [rest[-1]]
            yield lines
    if any(begun):
        yield [b"".join(begun)]
