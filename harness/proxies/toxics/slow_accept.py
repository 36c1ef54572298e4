"""A connection that is not taken up at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.attributes import number
from harness.proxies.toxics.toxic import Draw, Due, Piece, Toxic, ToxicState


@dataclass(frozen=True)
class SlowAccept(Toxic):
    """Nothing goes on before the connection is ``delay`` milliseconds old.

    A connection that was older when the toxic came does not notice it.
    """

    type = "slow_accept"
    delay: float = number()

    def begin(self, draw: Draw) -> SlowAcceptState:
        return SlowAcceptState(self, draw)


class SlowAcceptState(ToxicState[SlowAccept]):
    accepted_ms = 0.0

    def opened(self, now_ms: float, began_ms: float) -> Iterable[Due]:  # noqa: ARG002
        self.accepted_ms = began_ms + self.toxic.delay
        return ()

    def feed(self, piece: Piece, arrived_ms: float) -> Iterable[Due]:
        return (Due(piece, max(self.accepted_ms, arrived_ms)),)
