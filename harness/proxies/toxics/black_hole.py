"""Nothing goes on, and neither peer gets a notice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, Piece, Toxic, ToxicState


@dataclass(frozen=True)
class BlackHole(Toxic):
    """Holds everything, the end too, until it is removed; then all goes on in order."""

    type = "black_hole"

    def begin(self, draw: Draw) -> BlackHoleState:
        return BlackHoleState(self, draw)


class BlackHoleState(ToxicState[BlackHole]):
    def feed(self, piece: Piece, arrived_ms: float) -> Iterable[Due]:  # noqa: ARG002
        return (Due(piece, NEVER_MS),)
