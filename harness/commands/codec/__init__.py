"""``kafka-conformance codec``: what the codec knows, and bytes by hand; a module a command."""

from __future__ import annotations

import io
import sys

import click

from harness.commands.lazy_group import LazyGroup

_COMMANDS = {
    "list": ("harness.commands.codec.list", "list_command"),
    "describe": ("harness.commands.codec.describe", "describe_command"),
    "decode": ("harness.commands.codec.decode", "decode_command"),
    "encode": ("harness.commands.codec.encode", "encode_command"),
    "transcode": ("harness.commands.codec.transcode", "transcode_command"),
    "drift": ("harness.commands.codec.drift", "drift_command"),
    "errors": ("harness.commands.codec.errors", "errors_command"),
    "pcap": ("harness.commands.codec.pcap", "pcap_command"),
}


@click.command(cls=LazyGroup, lazy=_COMMANDS)
def codec() -> None:
    """List, describe, decode and encode Kafka's messages."""
    if sys.stdin is None:  # closed by the parent process: there is nothing to read
        sys.stdin = io.TextIOWrapper(io.BytesIO())
