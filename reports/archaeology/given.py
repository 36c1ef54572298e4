"""Data that the results lack: promises with their dates, places of targets, known bugs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Promise:
    """One requirement as the catalogue has it.

    `since` is "-" if no release began to keep it. `holds_in` is True for a release that promises it
    by these dates.
    """

    area: str
    level: str
    statement: str
    since: str
    until: str | None
    note: str | None
    not_in: tuple[str, ...]
    holds_in: Callable[[str], bool]

    @property
    def dates(self) -> str:
        """`since 2.4, until 3.x, not in 3.0.0`."""
        dates = ["no date" if self.since == "-" else f"since {self.since}"]
        dates += [] if self.until is None else [f"until {self.until}"]
        dates += [f"not in {release}" for release in self.not_in]
        return ", ".join(dates)


@dataclass(frozen=True)
class TargetPlace:
    """The place of a target: its release (`0.10.0.1`), with ZooKeeper or without (zk, kraft)."""

    release: str
    mode: str

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(word) for word in self.release.split("."))


@dataclass(frozen=True)
class KnownBug:
    """The reason why a release does not keep a promise that it has made, and its ticket."""

    reason: str
    link: str


@dataclass(frozen=True)
class Given:
    """`place_of` is None for a target that is no release of Apache Kafka; `bugs_of` a target are
    by requirement. `order` are the modes in the order of their columns.
    """

    promises: Mapping[str, Promise]
    place_of: Callable[[str], TargetPlace | None]
    bugs_of: Callable[[str], Mapping[str, KnownBug]] = lambda _: {}
    order: tuple[str, ...] = ("zk", "kraft")
    unreadable: tuple[str, ...] = field(default=())
