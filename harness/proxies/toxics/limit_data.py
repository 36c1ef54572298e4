"""So many bytes, then the connection is closed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.proxies.toxics.attributes import whole
from harness.proxies.toxics.toxic import Draw, Due, StreamMarker, Toxic, ToxicState


@dataclass(frozen=True)
class LimitData(Toxic):
    """Both sockets are closed when ``bytes`` have gone on; what comes beyond them is lost.

    At 0 with the first byte, which does not go on.
    """

    type = "limit_data"
    bytes: int = whole()

    def begin(self, draw: Draw) -> LimitDataState:
        return LimitDataState(self, draw)


class LimitDataState(ToxicState[LimitData]):
    passed_bytes = 0  # kept when the limit is changed

    def data(self, data: bytes, arrived_ms: float) -> Iterator[Due]:
        left = max(0, self.toxic.bytes - self.passed_bytes)
        if left:
            part = data if len(data) <= left else data[:left]
            self.passed_bytes += len(part)
            yield Due(part, arrived_ms)
        if self.passed_bytes >= self.toxic.bytes:
            yield Due(StreamMarker.CLOSE, arrived_ms, own=True)
