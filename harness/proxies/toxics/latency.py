"""All comes later."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import NormalDist

from harness.proxies.toxics.attributes import choice, number
from harness.proxies.toxics.toxic import Draw, Due, Piece, Toxic, ToxicState

PARETO_SHAPE = 3.0
SMALLEST = 2.0**-54  # the normal distribution's tail has no number at 0

SPREADS: dict[str, Callable[[float], float]] = {
    "uniform": lambda drawn: 2 * drawn - 1,
    "normal": lambda drawn: NormalDist().inv_cdf(max(drawn, SMALLEST)),
    "pareto": lambda drawn: (1 - drawn) ** (-1 / PARETO_SHAPE) - 1,
}
"""From a number in [0, 1) to how many times the jitter is added."""


@dataclass(frozen=True)
class Latency(Toxic):
    """Every piece goes on ``latency`` milliseconds after it arrived, plus what jitter adds.

    ``distribution``: ``uniform`` within ``latency`` +/- ``jitter``; ``normal`` with ``jitter`` as
    its standard deviation; ``pareto`` never below ``latency``, with a long tail (shape 3, mean
    ``latency`` + ``jitter`` / 2). Never earlier than it came, and the order is kept.
    """

    type = "latency"
    latency: float = number()
    jitter: float = number()
    distribution: str = choice(*SPREADS)

    def begin(self, draw: Draw) -> LatencyState:
        return LatencyState(self, draw)


class LatencyState(ToxicState[Latency]):
    def feed(self, piece: Piece, arrived_ms: float) -> Iterable[Due]:
        toxic = self.toxic
        delay_ms = toxic.latency
        if toxic.jitter:
            delay_ms += toxic.jitter * SPREADS[toxic.distribution](self.draw())
        return (Due(piece, arrived_ms + max(0.0, delay_ms)),)
