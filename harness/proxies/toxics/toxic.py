"""What a byte fault is: it says of each piece of a stream when it may go on, and as what.

    socket -> [toxic] -> [toxic] -> socket       one chain a direction of a connection

Pure: the time is an argument, chance is drawn from a source that is given. The law: a toxic that is
removed loses nothing. What it held goes on at once, in order, unless the toxic's own meaning is
that it is lost (a limit, a close).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

NEVER_MS = float("inf")
"""Due only when the toxic is removed."""

Draw = Callable[[], float]
"""The next number in [0, 1) for this toxic in this stream."""


class Mark(Enum):
    """What stands in a stream beside bytes."""

    END = "end"  # the sender has ended (FIN)
    CLOSE = "close"  # close both sockets
    RESET = "reset"  # close both by RST


Piece = bytes | Mark


@dataclass(frozen=True, slots=True)
class Due:
    """A piece, and when it goes on; never before what stands in front of it."""

    piece: Piece
    at_ms: float


class Toxic:
    """The settings of one fault; ``begin`` makes what it keeps for one stream."""

    type: ClassVar[str]

    def begin(self, draw: Draw) -> ToxicState:
        raise NotImplementedError


class ToxicState:
    """One toxic in one stream: the piece that changes nothing."""

    def opened(self, now_ms: float) -> Iterable[Due]:  # noqa: ARG002
        """The stream begins, or the toxic was added to it: what comes without any byte."""
        return ()

    def feed(self, piece: Piece, arrived_ms: float) -> Iterable[Due]:
        """What becomes of a piece that arrived then."""
        return (Due(piece, arrived_ms),)
