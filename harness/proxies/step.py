"""What may be done in a frame's place: a rule answers with a list of these, done in order.

Steps of one direction of a connection stand in one queue. A step that waits keeps back all that
comes behind it in its direction: bytes of TCP don't overtake each other. What shall overtake is
kept by the rule and given back later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.proxies.direction import Direction


@dataclass(frozen=True, slots=True)
class Send:
    """These bytes go on: a whole frame with its length, or whatever a fault makes of it."""

    data: bytes


@dataclass(frozen=True, slots=True)
class SendBack:
    """These bytes go to who sent the frame, as if the other side had answered.

    Of an answer to a request, ``in_turn``: behind the answers to the requests before it, as a
    client expects them. Else at once.
    """

    data: bytes
    in_turn: bool = True


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing behind this step goes on before so many milliseconds have passed.

    They begin with the step's turn; ``from_arrival``: when it was put into the queue. So frames
    that come together and are late by the same time stay together.
    """

    for_ms: float
    from_arrival: bool = False


@dataclass(slots=True)
class Gate:
    """Something that is opened once; who waits at it is told."""

    is_open: bool = False
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    def when_open(self, tell: Callable[[], None]) -> None:
        """``tell`` is called when it opens, at once when it is open."""
        if self.is_open:
            tell()
        else:
            self._waiting.append(tell)

    def forget(self, tell: Callable[[], None]) -> None:
        """``tell`` waits no more, if it did."""
        if tell in self._waiting:
            self._waiting.remove(tell)

    def open(self) -> None:
        self.is_open = True
        waiting, self._waiting = self._waiting, []
        for tell in waiting:
            tell()


def _nobody() -> None:
    """Who need not be told."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing behind this step goes on before the gate is open or so many milliseconds are over.

    ``expired`` is called when it was the time.
    """

    gate: Gate
    at_most_ms: float = float("inf")
    expired: Callable[[], object] = field(default=_nobody, compare=False)


@dataclass(frozen=True, slots=True)
class Aside:
    """A frame is kept back alone: nothing waits for it, what comes behind it overtakes.

    Once the gate opens, ``at_most_ms`` are over or the sender has ended, ``steps`` is called,
    once, and what it returns stands behind all that is in the queue of this direction then. It is
    not called when the connection is lost. When the gate opens that happens inside ``Gate.open``,
    or once the frame that is passing has passed. ``held_bytes``: of what is kept, for the limits.
    """

    gate: Gate
    at_most_ms: float
    steps: Callable[[], Sequence[Step]]
    held_bytes: int = 0


@dataclass(frozen=True, slots=True)
class End:
    """The stream ends here in this direction (FIN); the connection closes when both have ended."""


@dataclass(frozen=True, slots=True)
class Close:
    """Both sockets are closed (FIN), once what was sent before is written."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Both sockets are closed by RST, once what was sent before is written.

    ``side``: only one, the broker's with ``UPSTREAM``, the client's with ``DOWNSTREAM``, in
    whatever direction the step stands. The other stays open and is told nothing: what it sends is
    read and lost, and it is closed when it ends.
    """

    side: Direction | None = None


Step = Send | SendBack | Wait | Hold | Aside | End | Close | Reset
