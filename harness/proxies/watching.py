"""Frames of one direction as they pass: counted, rewritten, shown to the interceptor.

finder -> rewriter -> interceptor -> steps -> stream
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar, get_args

from harness.capture.tls import is_tls
from harness.proxies.counters import Traffic
from harness.proxies.deferred_frames import DeferredFrames
from harness.proxies.direction import Direction
from harness.proxies.frame_routing import FrameRouting
from harness.proxies.frames import FrameFinder
from harness.proxies.interceptor import Interceptor
from harness.proxies.limits import LIMITS, ProxyLimits
from harness.proxies.rewriter import Rewriter
from harness.proxies.seen import SeenConnection
from harness.proxies.step import Aside, Send, Step
from harness.proxies.stream import Call, Stream
from harness.proxies.toxics.chain import PIECE_COST_BYTES

P = ParamSpec("P")
T = TypeVar("T")
Steps = Sequence[Step]
_KINDS = get_args(Step)


class GuardedInterceptor(Protocol):
    """Call code of an interceptor or rewriter: its error becomes an event, and None is returned."""

    def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None: ...


@dataclass(slots=True)
class Shared:
    """The objects that all connections of one proxy share."""

    interceptor: Interceptor
    rewriter: Rewriter
    guarded: GuardedInterceptor
    tls_seen: Callable[[SeenConnection, Direction, str], None]
    limits: ProxyLimits = field(default=LIMITS)
    collected_bytes: int = 0  # that unfinished frames hold now


class FrameWatch:
    """The common part of both directions; a subclass handles the frames."""

    finder: FrameFinder[Any]

    direction: ClassVar[Direction]

    def __init__(
        self, stream: Stream, traffic: Traffic, place: SeenConnection, shared: Shared
    ) -> None:
        self.stream, self.traffic, self.place, self.shared = stream, traffic, place, shared
        self.passes: Callable[[bytes], None] = self._pass
        self.ordinal = 0
        self.has_begun = self.is_tls = False  # is_tls: with a record of TLS
        self.routing = FrameRouting(
            self.direction, traffic.by_api, shared.interceptor, shared.rewriter
        )
        self._acts: list[Callable[[], None]] = []  # to be done between frames
        self._acts_bytes = 0  # that wait there
        self._leans = False
        self._collected_bytes = 0
        self._asides = DeferredFrames(self._released)

    def feed(self, data: bytes) -> None:
        """The next bytes of the stream."""
        if not self.has_begun:
            self.has_begun = True
            self._look_for_tls(data)
        if not self.finder.is_stopped:
            self.finder.feed(data)
            if self.finder.is_behind:
                self.stream.rest(self._walk_on)

    def _walk_on(self) -> bool:
        """Walk on, and return True if there is more of what came."""
        self.finder.go_on()
        return self.finder.is_behind

    def act(self, steps: Iterable[Step]) -> None:
        """Do these steps now: this must be between frames."""
        raise NotImplementedError

    def put(self, data: bytes) -> None:
        """Add bytes that the other direction's steps send here, between frames."""
        self.when_between(lambda: self.act([Send(data)]), len(data))

    @property
    def held_bytes(self) -> int:
        """Bytes that wait here before they come to the stream."""
        return self.finder.pending_bytes + self._acts_bytes

    def is_full(self) -> bool:
        """True if others that add to this direction should wait."""
        return self.stream.is_full or self._acts_bytes > self.shared.limits.held_bytes

    def lean_on(self, other: FrameWatch) -> None:
        """Read no more while ``other`` is full: bytes sent back there must not pile up."""
        if not self._leans:
            self._leans = True
            self.stream.must_wait = other.is_full
            other.stream.regulated = self.stream.regulate

    def when_between(self, act: Callable[[], None], held_bytes: int) -> None:
        """Call ``act`` at once, or as soon as the frame that is passing has passed."""
        if self.finder.is_between:
            act()
        else:
            self._acts.append(act)
            self._acts_bytes += PIECE_COST_BYTES + held_bytes
            self.finder.interrupt = True

    def between(self) -> None:
        acts, self._acts = self._acts, []
        self._acts_bytes = 0
        self.finder.interrupt = self.wants_interrupt()
        for act in acts:
            act()

    def wants_interrupt(self) -> bool:
        """True if ``between`` has to be called at every boundary."""
        return False

    def collects(self, held_bytes: int) -> bool:
        shared = self.shared
        shared.collected_bytes += held_bytes - self._collected_bytes
        self._collected_bytes = held_bytes
        return shared.collected_bytes <= shared.limits.collected_in_all

    def lost(self, length: int, rest: bytes) -> None:
        self.traffic.lost_framing += 1
        self.passes = self._pass_unparsed
        self.refused(length, rest)
        self.between()

    def _look_for_tls(self, data: bytes) -> None:
        """Report TLS in the place of the first frame."""
        if is_tls(data):
            self.is_tls = True
            text = self.tls_text(data)
            if text:
                self.shared.tls_seen(self.place, self.direction, text)

    def tls_text(self, data: bytes) -> str:
        """Return a text for TLS records in this direction; empty if they are nothing special."""
        raise NotImplementedError

    def refused(self, length: int, rest: bytes) -> None:  # noqa: ARG002
        """Pass on or replace the bytes from an impossible length on."""
        self.passes(rest)

    def flush(self) -> None:
        """Pass on unfinished bytes, and frames that stand aside: the sender has ended."""
        self.finder.catch_up()
        if self.finder.is_inside:
            self.traffic.cut_short += 1
        self.finder.end()
        self.between()
        self._asides.release_all()

    def drop(self) -> None:
        """Forget all that is held: the connection is lost."""
        self.finder.end()
        self._asides.drop()

    def steps(self, answer: Callable[[T], Steps | None], about: T) -> Steps | None:
        """Return the steps of a callback, None if it raised an error or returned something else."""
        return self.shared.guarded(lambda seen: checked(answer(seen)), about)

    def common(self, step: Step, out: list[Step | Call]) -> None:
        """Do a step that means the same in both directions."""
        if isinstance(step, Aside):
            self.stream.aside_bytes += step.held_bytes
            self._asides.add(step)
        else:
            out.append(step)

    def _released(self, aside: Aside) -> None:
        self.stream.aside_bytes -= aside.held_bytes
        self.when_between(lambda: self._go_on(aside), aside.held_bytes)
        self.stream.regulate()  # the frame that is passing may have been stopped by what stood here

    def _go_on(self, aside: Aside) -> None:
        steps = self.steps(lambda aside: aside.steps(), aside)
        if steps:
            self.act(steps)
        self.stream.run()

    def _pass(self, data: bytes) -> None:
        self.stream.pass_on(data)

    def _pass_unparsed(self, data: bytes) -> None:
        self.traffic.unparsed_bytes += len(data)
        self.stream.pass_on(data)


def checked(steps: Steps | None) -> Steps | None:
    """Return the steps as a list. Raises TypeError when something in it is no step."""
    if steps is None:
        return None
    for step in (steps := list(steps)):
        if not isinstance(step, _KINDS):
            raise TypeError(f"an interceptor must return steps, not {step!r}")
        if not isinstance(getattr(step, "data", b""), bytes):
            raise TypeError(f"a step must hold bytes: {step!r}")
    return steps
