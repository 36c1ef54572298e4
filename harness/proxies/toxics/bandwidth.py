"""So many bytes a second, and no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.proxies.toxics.attributes import number
from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, StreamMarker, Toxic, ToxicState

PART_MS = 20  # a long piece goes on in parts that take so long


@dataclass(frozen=True)
class Bandwidth(Toxic):
    """``rate`` in KB/s, of 1000 bytes; at 0 nothing goes on until the rate is changed."""

    type = "bandwidth"
    rate: float = number()

    def begin(self, draw: Draw) -> BandwidthState:
        return BandwidthState(self, draw)


class BandwidthState(ToxicState[Bandwidth]):
    free_ms = 0.0  # when the last byte of what was fed is through

    def opened(self, now_ms: float, began_ms: float) -> Iterable[Due]:  # noqa: ARG002
        self.free_ms = now_ms  # what was held meanwhile does not go on in one burst
        return ()

    def data(self, data: bytes, arrived_ms: float) -> Iterator[Due]:
        rate = self.toxic.rate
        if rate == 0:
            yield Due(data, NEVER_MS)
            return
        size = max(1, int(rate * PART_MS))
        for start in range(0, len(data), size):
            part = data[start : start + size]
            self.free_ms = max(self.free_ms, arrived_ms) + len(part) / rate
            yield Due(part, self.free_ms)

    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterator[Due]:
        yield Due(mark, max(self.free_ms, arrived_ms))
