"""The steps in place of a frame: a rule returns a list of them, done in order.

Steps of one direction of a connection stand in one queue. A step that waits keeps back all that
comes behind it in its direction: bytes of TCP don't overtake each other. For another order a rule
keeps a frame and gives it back later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.proxies.direction import Direction


@dataclass(frozen=True, slots=True)
class Send:
    """Send these bytes on: a whole frame with its length, or the bytes that a fault makes of it."""

    data: bytes


@dataclass(frozen=True, slots=True)
class SendBack:
    """Send these bytes to the sender of the frame, as if the other side had answered.

    ``in_turn``, for an answer to a request: behind the answers to the requests before it, as a
    client expects them. Else at once.
    """

    data: bytes
    in_turn: bool = True


@dataclass(frozen=True, slots=True)
class WaitStep:
    """Let nothing behind this step go on before so many milliseconds have passed.

    They begin with the step's turn; ``from_arrival``: when it was put into the queue. So frames
    that come together and are late by the same time stay together.
    """

    for_ms: float
    from_arrival: bool = False


@dataclass(slots=True)
class Gate:
    """A gate that is opened once, and then calls all that wait at it."""

    is_open: bool = False
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def when_open(self, tell: Callable[[], None]) -> None:
        """Call the function when the gate opens, at once when it is open."""
        if self.is_open:
            tell()
        else:
            self._waiting.append(tell)

    def forget(self, tell: Callable[[], None]) -> None:
        """Remove the function from the waiting ones, if it is there."""
        if tell in self._waiting:
            self._waiting.remove(tell)

    def open(self) -> None:
        self.is_open = True
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()


def _nobody() -> None:
    """Do nothing: the default callback."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Let nothing behind this step go on before the gate is open or so many milliseconds are over.

    ``expired`` is called when it was the time.
    """

    gate: Gate
    at_most_ms: float = float("inf")
    expired: Callable[[], object] = field(default=_nobody, compare=False)


@dataclass(frozen=True, slots=True)
class Aside:
    """Keep a frame back alone: nothing waits for it, frames behind it overtake it.

    Once the gate opens, ``at_most_ms`` are over or the sender has ended, ``steps`` is called, once,
    and what it returns stands behind all that is in the queue of this direction then. It is not
    called when the connection is lost. When the gate opens that happens inside ``Gate.open``, or
    once the frame that is passing has passed. ``held_bytes``: of what is kept, for the limits.
    """

    gate: Gate
    at_most_ms: float
    steps: Callable[[], Sequence[Step]]
    held_bytes: int = 0


@dataclass(frozen=True, slots=True)
class End:
    """End the stream in this direction (FIN); the connection closes when both have ended."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close both sockets (FIN), once what was sent before is written."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Close both sockets by RST, once what was sent before is written.

    ``side``: only one, the broker's with ``UPSTREAM``, the client's with ``DOWNSTREAM``, in
    whatever direction the step stands. The other stays open without a notice: the bytes that it
    sends are read and lost, and it is closed when it ends.
    """

    side: Direction | None = None


Step = Send | SendBack | WaitStep | Hold | Aside | End | Close | Reset
