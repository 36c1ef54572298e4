"""Small parts instead of large pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.proxies.toxics.attributes import BadAttribute, number, whole
from harness.proxies.toxics.toxic import Draw, Due, StreamMarker, Toxic, ToxicState

US_PER_MS = 1000


@dataclass(frozen=True)
class Slicer(Toxic):
    """Cuts into parts of ``average_size`` +/- ``size_variation`` bytes, written one by one.

    ``delay``: microseconds (as in toxiproxy) after each part before the next may go on.
    """

    type = "slicer"
    average_size: int = whole(0, at_least=1)
    size_variation: int = whole()
    delay: float = number()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size_variation >= self.average_size:
            raise BadAttribute(
                f"slicer: size_variation must be less than average_size ({self.average_size}), "
                f"not {self.size_variation}"
            )

    def begin(self, draw: Draw) -> SlicerState:
        return SlicerState(self, draw)


class SlicerState(ToxicState[Slicer]):
    free_ms = 0.0  # when the next part may go on

    def opened(self, now_ms: float, began_ms: float) -> Iterable[Due]:  # noqa: ARG002
        self.free_ms = now_ms  # what was held meanwhile does not go on in one burst
        return ()

    def data(self, data: bytes, arrived_ms: float) -> Iterator[Due]:
        start = 0
        while start < len(data):
            end = start + self._size()
            at_ms = max(self.free_ms, arrived_ms)
            self.free_ms = at_ms + self.toxic.delay / US_PER_MS
            yield Due(data[start:end], at_ms)
            start = end

    def _size(self) -> int:
        toxic = self.toxic
        if not toxic.size_variation:
            return toxic.average_size
        choices = 2 * toxic.size_variation + 1
        return toxic.average_size - toxic.size_variation + int(self.draw() * choices)

    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterator[Due]:
        yield Due(mark, max(self.free_ms, arrived_ms))
