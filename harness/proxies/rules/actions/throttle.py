"""The frame comes slowly, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.values import number
from harness.proxies.step import Send, Step, WaitStep

_TICK_S = 0.02
_MOST_PIECES = 1000


@dataclass(frozen=True, slots=True)
class Throttle(RuleAction):
    """In pieces of a fiftieth of a second or more, at most a thousand of them."""

    name = "throttle"
    short = "bytes_per_s"
    keeps = True
    bytes_per_s: float = setting(number(1, 1e12, " of bytes a second"))

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        return list(self._pieces(data))

    def _pieces(self, data: bytes) -> Iterator[Step]:
        size = max(1, int(self.bytes_per_s * _TICK_S), -(-len(data) // _MOST_PIECES))
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            yield WaitStep(len(piece) * 1000 / self.bytes_per_s)
            yield Send(piece)
