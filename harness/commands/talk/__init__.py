"""``kafka-conformance talk``: requests and records by hand; a module a command."""

from __future__ import annotations

import click

from harness.commands.lazy_group import LazyGroup

_COMMANDS = {
    "ask": ("harness.commands.talk.ask", "ask_command"),
    "produce": ("harness.commands.talk.produce", "produce_command"),
    "consume": ("harness.commands.talk.consume", "consume_command"),
}


@click.command(cls=LazyGroup, lazy=_COMMANDS)
def talk() -> None:
    """Send requests to a broker, write records and read them, as JSON."""
