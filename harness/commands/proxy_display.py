"""The display of ``kafka-conformance proxy``: a few lines; the table is proxy_table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Protocol

import click

from harness.commands.printer import Printer
from harness.proxies.control.proxies import Controlled
from harness.proxies.event import Event
from harness.proxies.front import Front

CHANGES = frozenset(
    {
        "armed", "capture_ended", "cut", "disabled", "disarmed", "enabled", "error", "healed",
        "mapped", "not_proxied", "other_node", "released", "reset", "tls", "toxic_added",
        "toxic_removed", "toxic_updated",
    }
)  # fmt: skip
FIRST_ONLY = frozenset({"error", "expired", "fired", "not_proxied", "skipped", "tls"})
MOST_REMEMBERED = 1_000
CLOSE_S = 2
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Display(Protocol):
    """Hears every event; ``tick`` is called every now and then, ``end`` once, ``close`` last.

    None of them waits for the terminal, but ``close`` a little: whether all was written.
    """

    def __call__(self, event: Event) -> None: ...

    def say(self, line: str) -> None: ...

    def tick(self) -> None: ...

    def end(self) -> None: ...

    def close(self) -> bool: ...


class Lines:
    """A line for each change, and for the first time that something fires."""

    def __init__(self, front: Front) -> None:
        self._front, self._printer = front, Printer()
        self._shown: dict[str, str] = {}  # proxy -> its line
        self._unreachable: set[str] = set()
        self._first: set[tuple[Any, ...]] = set()

    def __call__(self, event: Event) -> None:
        if is_change(event, self._first):
            self.say(event_line(event))

    def say(self, line: str) -> None:
        self._printer.put(partial(click.echo, line))

    def tick(self) -> None:
        proxies = dict(self._front.proxies.items())
        lines = {name: stands_for(self._front, proxy) for name, proxy in proxies.items()}
        for name, line in lines.items():
            if self._shown.get(name) != line:
                self.say(line)
        for name in self._shown.keys() - lines.keys():
            self.say(f"{name}: its proxy is gone")
        self._shown = lines
        for name, proxy in proxies.items():
            if proxy.counters.not_connected and name not in self._unreachable:
                self._unreachable.add(name)
                self.say(unreachable(self._front, proxy))

    def end(self) -> None:
        self.tick()
        for line in totals(self._front):
            self.say(line)

    def close(self) -> bool:
        return self._printer.close(CLOSE_S)


def is_change(event: Event, first: set[tuple[Any, ...]]) -> bool:
    """True if an event is worth a line; frequent ones only the first time, which is remembered."""
    if event.what in FIRST_ONLY:
        key: tuple[Any, ...] = (event.what, event.rule)
        if event.rule is None:
            about = event.detail.get("error", "") or event.detail.get("text", "")
            key = (event.what, event.link, str(about))
        if key in first or len(first) >= MOST_REMEMBERED:
            return False
        first.add(key)
        return True
    return event.what in CHANGES and "by" not in event.detail


def event_line(event: Event) -> str:
    """``2.041 s  cut client->1 upstream``."""
    words = [event.what.replace("_", " ")]
    words += [f'"{event.rule}"'] if event.rule else []
    words += [str(word) for word in (event.link, event.direction) if word]
    words += [f"{name}={value}" for name, value in event.detail.items()]
    first = " for the first time" if event.what in ("fired", "skipped") else ""
    return f"{event.at_ms / 1000:.3f} s  {' '.join(words)}{first}"


def stands_for(front: Front, proxy: Controlled) -> str:
    """Return a sentence with the proxy's address and the upstream that it stands for."""
    down = "" if proxy.enabled else ", and is down"
    return f"{front.told_address(proxy)} stands for {upstream_of(proxy)}{_named(proxy)}{down}"


def unreachable(front: Front, proxy: Controlled) -> str:
    """Return a sentence on an upstream without connections; with advice if no user named it."""
    advice = ""
    if proxy.name in front.learned:
        advice = (
            "; the cluster advertises it: give the address that can be reached from here with "
            f"--upstream ID=HOST:PORT or --map {upstream_of(proxy)}=HOST:PORT"
        )
    return f"{upstream_of(proxy)} could not be reached{advice}"


def totals(front: Front) -> Iterator[str]:
    """Yield the totals of each link, and the counts of each rule."""
    for proxy in front.proxies.values():
        counters = proxy.counters
        frames = ""
        if counters.upstream.frames or counters.downstream.frames:
            frames = (
                f"{counters.upstream.frames} requests, {counters.downstream.frames} responses, "
            )
        yield (
            f"{upstream_of(proxy)}{_named(proxy)}: {counters.accepted} connections, {frames}"
            f"{in_units(counters.upstream.bytes)} up, {in_units(counters.downstream.bytes)} down"
        )
    for rule in front.rules.rules:
        yield f'rule "{rule.id}": {front.rules.counts(rule.id).in_words()}'


def in_units(count: int) -> str:
    """``1.5 MiB``."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {UNITS[unit]}"


def upstream_of(proxy: Controlled) -> str:
    """``HOST:PORT`` of the broker that the proxy stands for."""
    return str(proxy.upstream)


def _named(proxy: Controlled) -> str:
    return "" if proxy.name == upstream_of(proxy) else f" ({proxy.name})"
