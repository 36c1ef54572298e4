"""One side is gone, and the other gets no notice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, StreamMarker, Toxic, ToxicState


@dataclass(frozen=True)
class HalfOpen(Toxic):
    """Bytes go on; the end of the stream, a close or a reset only when the toxic is removed."""

    type = "half_open"

    def begin(self, draw: Draw) -> HalfOpenState:
        return HalfOpenState(self, draw)


class HalfOpenState(ToxicState[HalfOpen]):
    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterable[Due]:  # noqa: ARG002
        return (Due(mark, NEVER_MS),)
