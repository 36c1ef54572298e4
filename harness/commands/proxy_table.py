"""The table of ``kafka-conformance proxy`` on a terminal, drawn by rich."""

from __future__ import annotations

import sys
from collections import deque
from functools import partial
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from harness.commands.printer import Printer
from harness.commands.proxy_display import (
    CLOSE_S,
    event_line,
    in_units,
    is_change,
    upstream_of,
)
from harness.proxies.control.proxies import Controlled
from harness.proxies.event import Event
from harness.proxies.front import Front

ROWS = 40
LAST_CHANGES = 8


class LiveTable:
    """Links, rules and the last changes, drawn again at each tick."""

    def __init__(self, front: Front, console: Console | None = None) -> None:
        self._front, self._printer = front, Printer()
        self._notes: list[str] = []
        self._changes: deque[str] = deque(maxlen=LAST_CHANGES)
        self._first: set[tuple[Any, ...]] = set()
        self._live = Live(console=console, auto_refresh=False)

    def __call__(self, event: Event) -> None:
        if is_change(event, self._first):
            self._changes.append(event_line(event))

    def say(self, line: str) -> None:
        self._notes.append(line)

    def tick(self) -> None:
        if self._printer.is_idle:
            self._draw()

    def end(self) -> None:
        self._draw()
        self._printer.put(self._live.stop)

    def close(self) -> bool:
        return self._printer.close(CLOSE_S)

    def _draw(self) -> None:
        self._printer.put(self._live.start)  # nothing while it runs
        self._printer.put(partial(self._live.update, self._drawn(), refresh=True))

    def _drawn(self) -> RenderableType:
        parts: list[RenderableType] = [links_table(self._front)]
        if self._front.rules.rules:
            parts.append(rules_table(self._front))
        parts += [Text(line) for line in (*self._notes, *self._changes)]
        return Group(*parts)


def is_screen() -> bool:
    """True if standard output is a terminal that can be redrawn."""
    return sys.stdout.isatty() and Console().is_interactive


def links_table(front: Front) -> Table:
    table = Table("link", "clients connect to", "leads to", "state", title="links")
    for name in ("open", "accepted", "failed", "requests", "responses", "up", "down"):
        table.add_column(name, justify="right")
    table.add_column("toxics")
    proxies = list(front.proxies.values())
    for proxy in proxies[:ROWS]:
        table.add_row(*map(Text, _cells(front, proxy)))
    if len(proxies) > ROWS:
        table.caption = f"and {len(proxies) - ROWS} more"
    return table


def _cells(front: Front, proxy: Controlled) -> list[str]:
    counters = proxy.counters
    numbers = (counters.open, counters.accepted, counters.not_connected,
               counters.upstream.frames, counters.downstream.frames)  # fmt: skip
    return [
        f"{proxy.source}->{proxy.destination}",
        str(front.told_address(proxy)),
        upstream_of(proxy),
        _state(proxy),
        *map(str, numbers),
        in_units(counters.upstream.bytes),
        in_units(counters.downstream.bytes),
        ", ".join(named.name for named in proxy.toxics),
    ]


def rules_table(front: Front) -> Table:
    table = Table("rule", title="rules")
    for name in ("seen", "matched", "fired", "skipped"):
        table.add_column(name, justify="right")
    rules = front.rules.rules
    for rule in rules[:ROWS]:
        counts = front.rules.counts(rule.id)
        numbers = (counts.seen, counts.matched, counts.fired, sum(counts.skipped.values()))
        table.add_row(Text(rule.id), *map(str, numbers))
    if len(rules) > ROWS:
        table.caption = f"and {len(rules) - ROWS} more"
    return table


def _state(proxy: Controlled) -> str:
    if not proxy.enabled:
        return "down"
    cut = sorted(proxy.cut_directions)
    return f"cut {'both ways' if len(cut) == 2 else cut[0]}" if cut else "up"
