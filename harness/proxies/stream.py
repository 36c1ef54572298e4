"""One direction of a connection: pieces and steps in a queue, then toxics, then the socket.

Bytes that find nothing in their way are written by the transport itself: ``pass_on`` then is its
``write``. Reading from the sender pauses while the receiver is slow, the direction is cut or not
connected yet, or more than the limit waits here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.proxies.direction import Direction
from harness.proxies.limits import ProxyLimits
from harness.proxies.outgoing_stream import ProxyStream
from harness.proxies.step import Close, End, Hold, Reset, Send, Step, WaitStep
from harness.proxies.toxics.chain import PIECE_COST_BYTES
from harness.proxies.toxics.toxic import StreamMarker


@dataclass(frozen=True, slots=True)
class Call:
    """A step of the engine itself: a function that is called when its turn has come."""

    act: Callable[[], None]
    held_bytes: int = 0  # of what it will do something with


@dataclass(frozen=True, slots=True)
class Until:
    """A Wait with ``from_arrival``, from the time of its arrival on."""

    at_ms: float


Item = bytes | Call | Until | Step
NEVER_MS = float("inf")


class Stream:
    """One direction, with at most ``limits.held_bytes`` and one read more.

    The bound holds as long as the reader obeys ``pause``. Each piece costs more than its bytes, and
    is counted so.
    """

    def __init__(
        self,
        way: ProxyStream,
        limits: ProxyLimits,
        now_ms: Callable[[], float],
        pause: Callable[[bool], None],
    ) -> None:
        """``pause(True)`` stops reading from the sender, ``pause(False)`` goes on with it."""
        self.way, self._limits, self._now_ms, self._pause = way, limits, now_ms, pause
        way.changed = self.run
        self.pass_on: Callable[[bytes], None] = self._wait_for_turn
        self.reset_side: Direction | None = None  # what a Reset on its way asked for
        self.receiver_is_slow = False
        self.must_wait: Callable[[], bool] = _never  # for another reason than its own
        self.regulated: Callable[[], None] = lambda: None  # perhaps there is more room now
        self.aside_bytes = 0  # of frames that stand aside
        self._queue: deque[Item] = deque()
        self._queued_bytes = 0
        self._waiting: Callable[[], None] | None = None  # ends the wait of the first step
        self._is_running = self._is_paused = self._is_telling = self._is_resting = False

    @property
    def held_bytes(self) -> int:
        return self._queued_bytes + self.aside_bytes + self.way.held_bytes

    @property
    def is_full(self) -> bool:
        """True if no more should be added."""
        if self.way.is_over:
            return False
        return self.receiver_is_slow or self.held_bytes > self._limits.held_bytes

    def do(self, steps: Iterable[Step | Call]) -> None:
        """Queue these steps behind all that waits here."""
        for step in steps:
            self._append(step)
        self.run()

    def end(self) -> None:
        """The sender has ended."""
        self.do([End()])

    def finish(self) -> None:
        """Discard all that waits: the receiver is gone, or this direction was ended."""
        self.way.finish()
        self._stop_waiting()
        self._queue.clear()
        self._queued_bytes = self.aside_bytes = 0
        self.pass_on = _ignore
        self.regulate()

    def run(self) -> None:
        """Take from the queue the items that may go on, then regulate the sender."""
        if self._is_running:
            return
        self._is_running = True
        try:
            while self._queue and self.way.is_open and self._waiting is None:
                self._take(self._queue.popleft())
        finally:
            self._is_running = False
        self.regulate()

    def rest(self, go_on: Callable[[], bool]) -> None:
        """Read no more until ``go_on``, called once a turn of the loop, returns False.

        uvloop calls back for up to 32 reads in one turn, and each may hold thousands of frames.
        """
        if not self._is_resting:
            self._is_resting = True
            asyncio.get_running_loop().call_soon(self._rested, go_on)
            self.regulate()

    def _rested(self, go_on: Callable[[], bool]) -> None:
        if go_on():
            asyncio.get_running_loop().call_soon(self._rested, go_on)
        else:
            self._is_resting = False
            self.regulate()

    def regulate(self) -> None:
        """Choose the shortest way for what comes, and pause or resume the sender."""
        if self.way.is_over:
            self.pass_on = _ignore
        else:
            straight = None if self._queue or self._waiting else self.way.straight
            self.pass_on = straight or self._wait_for_turn
        pause = self._must_pause()
        if pause is not self._is_paused:
            self._is_paused = pause
            self._pause(pause)
        if not self._is_telling:
            self._is_telling = True
            self.regulated()
            self._is_telling = False

    def _must_pause(self) -> bool:
        if self._is_resting:
            return True
        if self.way.is_over:
            return False  # what comes is not kept, but its end is to be seen
        if self.receiver_is_slow or not self.way.is_open or self.must_wait():
            return True
        held_bytes, limit = self.held_bytes, self._limits.held_bytes
        return held_bytes > (limit // 2 if self._is_paused else limit)

    def _wait_for_turn(self, data: bytes) -> None:
        self._append(data)
        self.run()

    def _append(self, item: Item) -> None:
        if self.way.is_over:
            return
        if isinstance(item, WaitStep) and item.from_arrival:
            item = Until(self._now_ms() + item.for_ms)
        self._queue.append(item)
        self._queued_bytes += _cost(item)

    def _take(self, item: Item) -> None:
        self._queued_bytes -= _cost(item)
        if isinstance(item, bytes):
            self.way.forward(item)
        else:
            _ACTS[type(item)](self, item)

    def _send(self, step: Send) -> None:
        if step.data:
            self.way.forward(step.data)

    def _call(self, step: Call) -> None:
        step.act()

    def _wait(self, step: WaitStep) -> None:
        self._wait_ms(step.for_ms)

    def _wait_until(self, step: Until) -> None:
        self._wait_ms(step.at_ms - self._now_ms())

    def _wait_ms(self, for_ms: float) -> None:
        if for_ms > 0:
            timer = asyncio.get_running_loop().call_later(for_ms / 1000, self._go_on)
            self._waiting = timer.cancel

    def _hold(self, step: Hold) -> None:
        if step.gate.is_open:
            return
        timer: asyncio.TimerHandle | None = None
        if step.at_most_ms != NEVER_MS:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(step.at_most_ms / 1000, self._hold_is_over, step)
        self._waiting = partial(_end_hold, step, timer, self._go_on)
        step.gate.when_open(self._go_on)

    def _hold_is_over(self, step: Hold) -> None:
        step.expired()
        self._go_on()

    def _go_on(self) -> None:
        self._stop_waiting()
        self.run()

    def _stop_waiting(self) -> None:
        if self._waiting:
            stop, self._waiting = self._waiting, None
            stop()

    def _end(self, step: End) -> None:  # noqa: ARG002
        self.way.forward(StreamMarker.END)

    def _close(self, step: Close) -> None:  # noqa: ARG002
        self.way.forward(StreamMarker.CLOSE)

    def _reset(self, step: Reset) -> None:
        self.reset_side = step.side
        self.way.forward(StreamMarker.RESET)


def _end_hold(hold: Hold, timer: asyncio.TimerHandle | None, tell: Callable[[], None]) -> None:
    hold.gate.forget(tell)
    if timer:
        timer.cancel()


def _ignore(data: bytes) -> None:
    """Drop bytes that lead nowhere any more."""


def _never() -> bool:
    return False


def _cost(item: Item) -> int:
    if isinstance(item, bytes):
        return PIECE_COST_BYTES + len(item)
    if isinstance(item, Send):
        return PIECE_COST_BYTES + len(item.data)
    return PIECE_COST_BYTES + (item.held_bytes if isinstance(item, Call) else 0)


_ACTS: dict[type, Callable[[Stream, Any], None]] = {
    Send: Stream._send,
    Call: Stream._call,
    WaitStep: Stream._wait,
    Until: Stream._wait_until,
    Hold: Stream._hold,
    End: Stream._end,
    Close: Stream._close,
    Reset: Stream._reset,
}
