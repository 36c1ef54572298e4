"""What went through a proxy: bytes and frames by direction, API and version; connections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.proxies.direction import Direction

Kind = tuple[int, int]  # api key and version
UNKNOWN: Kind = (-1, -1)  # no head could be read, or nobody asked for this answer
KINDS = 2_000  # more of them are not of Kafka, and are counted as unknown


class Tally:
    """Frames of one API and version, and their bytes with the lengths in front."""

    __slots__ = ("frame_bytes", "frames")

    def __init__(self) -> None:
        self.frames = self.frame_bytes = 0


class Tallies(dict[Kind, Tally]):
    """A new kind begins with nothing; what a stranger makes up does not grow without end."""

    def __missing__(self, kind: Kind) -> Tally:
        if len(self) >= KINDS and kind != UNKNOWN:
            return self[UNKNOWN]
        tally = self[kind] = Tally()
        return tally


@dataclass(slots=True)
class Traffic:
    """One direction. ``bytes`` came in, whatever became of them, ``sent_bytes`` were given to the
    socket it leads to, those of a fault's own making too; frames only where they are found.

    ``unparsed_bytes``: behind a length that cannot be; ``too_large``: frames that passed unread
    because they were larger than what is collected; ``cut_short``: streams that ended in a frame.
    """

    bytes: int = 0
    sent_bytes: int = 0
    by_api: Tallies = field(default_factory=Tallies)
    lost_framing: int = 0
    unparsed_bytes: int = 0
    too_large: int = 0
    cut_short: int = 0

    @property
    def frames(self) -> int:
        return sum(tally.frames for tally in self.by_api.values())

    def to_json(self) -> dict[str, Any]:
        by_api = [
            {"api_key": key, "version": version, "frames": one.frames, "bytes": one.frame_bytes}
            for (key, version), one in sorted(self.by_api.items())
        ]
        return {
            "bytes": self.bytes,
            "sent_bytes": self.sent_bytes,
            "frames": self.frames,
            "lost_framing": self.lost_framing,
            "unparsed_bytes": self.unparsed_bytes,
            "too_large": self.too_large,
            "cut_short": self.cut_short,
            "by_api": by_api,
        }


@dataclass(slots=True)
class Counters:
    """One proxy, since it was made.

    ``mismatched`` responses had another correlation id than the request whose turn it was,
    ``unasked`` ones no request at all; ``forgotten`` requests were too many to remember.
    """

    upstream: Traffic = field(default_factory=Traffic)
    downstream: Traffic = field(default_factory=Traffic)
    accepted: int = 0
    open: int = 0
    not_connected: int = 0  # the upstream could not be reached
    mismatched: int = 0
    unasked: int = 0
    forgotten: int = 0
    errors: int = 0  # an interceptor or rewriter raised

    def of(self, direction: Direction) -> Traffic:
        return self.upstream if direction is Direction.UPSTREAM else self.downstream

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, and each direction under its name."""
        plain = ("accepted", "open", "not_connected", "mismatched", "unasked", "forgotten",
                 "errors")  # fmt: skip
        numbers = {name: getattr(self, name) for name in plain}
        return numbers | {way.value: self.of(way).to_json() for way in Direction}
