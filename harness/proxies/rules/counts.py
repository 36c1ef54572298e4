"""The counters of a rule."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any

from harness.proxies.rules.frame_view import FrameView

MOST_TOUCHED = 100
MOST_REASONS = 20
OTHER_REASONS = "other reasons"


@dataclass(frozen=True, slots=True)
class Touch:
    """A frame that a rule did something to, and when."""

    at_ms: float
    link: str
    connection: int
    direction: str
    frame: int
    api: str
    version: int
    correlation_id: int | None

    @classmethod
    def of(cls, frame: FrameView, at_ms: float) -> Touch:
        place = frame.place
        return cls(at_ms, place.link, place.connection, str(frame.direction), frame.ordinal,
                   frame.api_name, frame.version, frame.correlation_id)  # fmt: skip


@dataclass(slots=True)
class RuleCounts:
    """The counters of a rule, in frames.

    ``seen``: all of its direction that were shown. ``outside``: those that would match, but at a
    time when the rule is not at work. ``matched``: the others that match. ``skipped``: those that
    were taken, but nothing was done, by reason. ``expired``: those of the fired that were held
    until their time was over. ``touched``: the last of the fired. ``nearest``: the nearest miss.
    """

    seen: int = 0
    outside: int = 0
    matched: int = 0
    fired: int = 0
    expired: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    touched: deque[Touch] = field(default_factory=lambda: deque(maxlen=MOST_TOUCHED))
    nearest: str | None = None

    def skip(self, reason: str) -> None:
        known = reason in self.skipped or len(self.skipped) < MOST_REASONS
        self.skipped[reason if known else OTHER_REASONS] += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "seen": self.seen,
            "outside": self.outside,
            "matched": self.matched,
            "fired": self.fired,
            "expired": self.expired,
            "skipped": dict(self.skipped),
            "touched": [asdict(touch) for touch in self.touched],
            "nearest": self.nearest,
        }

    def in_words(self) -> str:
        """Return the counts as text, for a rule that was expected to fire."""
        if not self.seen:
            return "no frame of its direction and APIs has passed"
        said = [f"{self.seen} frames seen, {self.matched} matched, {self.fired} fired"]
        if self.outside:
            said.append(f"{self.outside} would match, but at a time when it is not at work")
        if self.expired:
            said.append(f"{self.expired} held until their time was over")
        said += [f"{count} skipped: {why}" for why, count in self.skipped.most_common()]
        if not self.matched and self.nearest:
            said.append(f"the nearest miss: {self.nearest}")
        return "; ".join(said)
