"""Frames in another order: a number of them is collected, shuffled and sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.proxies.hashed_chance import permutation
from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.values import integer, milliseconds
from harness.proxies.step import Aside, Gate, Send, Step

LARGEST = 1000  # frames; as many requests are known again when they go on
AT_MOST_BYTES = 8 * 1024 * 1024


@dataclass(slots=True)
class _Window:
    """The collected frames, and the gate of the first, which stands aside for all of them."""

    gate: Gate
    occasion: Occasion  # the first frame's draws decide the order
    frames: list[bytes] = field(default_factory=list)
    held_bytes: int = 0

    def shuffled(self) -> list[Step]:
        order = permutation(len(self.frames), self.occasion.draw)
        steps: list[Step] = [Send(self.frames[place]) for place in order]
        self.frames = []
        return steps


@dataclass(frozen=True, slots=True)
class Reorder(RuleAction):
    """``window`` frames of one direction of one connection at a time; fewer when ``at_most_ms``
    are over since the first of them, when they are more than 8 MiB or when the sender ends.
    """

    name = "reorder"
    short = "window"
    keeps = True
    window: int = setting(integer(2, LARGEST))
    at_most_ms: float = setting(milliseconds, 1000.0)

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        window: _Window | None = occasion.memory.get("window")
        first = window is None or not window.frames
        if window is None or first:
            window = _Window(occasion.gate(None, self.at_most_ms), occasion)
            occasion.memory["window"] = window
        window.frames.append(data)
        window.held_bytes += len(data)
        if first:
            return [Aside(window.gate, self.at_most_ms, window.shuffled, len(data))]
        if len(window.frames) >= self.window or window.held_bytes > AT_MOST_BYTES:
            window.gate.open()
        return []
