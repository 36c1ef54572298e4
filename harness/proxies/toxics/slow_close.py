"""The end comes later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.attributes import number
from harness.proxies.toxics.toxic import Draw, Due, StreamMarker, Toxic, ToxicState


@dataclass(frozen=True)
class SlowClose(Toxic):
    """The end of the stream, and a close, go on ``delay`` milliseconds after they came."""

    type = "slow_close"
    delay: float = number()

    def begin(self, draw: Draw) -> SlowCloseState:
        return SlowCloseState(self, draw)


class SlowCloseState(ToxicState[SlowClose]):
    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterable[Due]:
        return (Due(mark, arrived_ms + self.toxic.delay),)
