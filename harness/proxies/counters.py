"""The traffic of a proxy: bytes and frames by direction, API and version; connections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.proxies.direction import Direction

Kind = tuple[int, int]  # api key and version
UNKNOWN: Kind = (-1, -1)  # the head was unreadable, or the answer belongs to no request
KINDS = 2_000  # more of them are not of Kafka, and are counted as unknown


class Tally:
    """Frames of one API and version, and their bytes with the lengths in front."""

    __slots__ = ("frame_bytes", "frames")

    def __init__(self) -> None:
        self.frames = self.frame_bytes = 0


class Tallies(dict[Kind, Tally]):
    """Tallies by kind, made when first read; above ``KINDS`` new kinds are counted as unknown."""

    def __missing__(self, kind: Kind) -> Tally:
        if len(self) >= KINDS and kind != UNKNOWN:
            return self[UNKNOWN]
        tally = self[kind] = Tally()
        return tally


@dataclass(slots=True)
class Traffic:
    """The traffic of one direction.

    ``bytes``: received, also those that do not go on. ``sent_bytes``: given to the socket that the
    direction leads to, also those that a fault made. Frames are counted only where they are found.

    ``unparsed_bytes``: behind an impossible length; ``too_large``: frames that passed unread
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
    """The counters of one proxy, since it was made.

    ``mismatched``: responses with another correlation id than that of the request in turn.
    ``unasked``: responses to no request. ``forgotten``: requests that were too many to remember.
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
