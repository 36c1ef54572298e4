"""Nothing goes on, and then the connection is closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.attributes import number
from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, Piece, StreamMarker, Toxic, ToxicState


@dataclass(frozen=True)
class Timeout(Toxic):
    """Holds everything; ``timeout`` milliseconds after it began, both sockets are closed.

    0: they are not closed. What is held goes on when the toxic is removed before that.
    """

    type = "timeout"
    timeout: float = number()

    def begin(self, draw: Draw) -> TimeoutState:
        return TimeoutState(self, draw)


class TimeoutState(ToxicState[Timeout]):
    def opened(self, now_ms: float, began_ms: float) -> Iterable[Due]:  # noqa: ARG002
        if self.toxic.timeout:
            return (Due(StreamMarker.CLOSE, now_ms + self.toxic.timeout, own=True),)
        return ()

    def feed(self, piece: Piece, arrived_ms: float) -> Iterable[Due]:  # noqa: ARG002
        return (Due(piece, NEVER_MS),)
