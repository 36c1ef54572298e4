"""A loop without sockets that a test drives by hand: its time advances only on request."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

MOST_CALLS = 200_000  # of one script: one that needs more runs in a circle


class HandLoop:
    """The functions of a loop that the proxies use, and no more.

    ``run`` runs what is ready, ``advance`` lets time pass. Both raise the exceptions of callbacks.
    ``dial`` is called for each connection that the proxies open.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self.calls = 0
        self.errors: list[dict[str, Any]] = []
        self.dial: Callable[[], Awaitable[Any]] = _nobody_to_dial
        self._self: Any = self  # as what asyncio takes for a loop
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[asyncio.TimerHandle] = []

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the running loop of the thread."""
        asyncio._set_running_loop(self._self)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def now_ms(self) -> float:
        return self.now_s * 1000

    @property
    def timers(self) -> list[asyncio.TimerHandle]:
        """The timers that are still to come."""
        return [timer for timer in self._timers if not timer.cancelled()]

    @property
    def next_timer_s(self) -> float | None:
        while self._timers and self._timers[0].cancelled():
            heapq.heappop(self._timers)
        return self._timers[0].when() if self._timers else None

    def run(self) -> bool:
        """Run all ready callbacks, and those that they add. True if there were any."""
        any_ran = bool(self._ready)
        while self._ready:
            handle = self._ready.popleft()
            if not handle.cancelled():
                self.calls += 1
                assert self.calls <= MOST_CALLS, "it never comes to rest"
                handle._run()
        if self.errors:
            told = self.errors.pop(0)
            raise told.get("exception") or AssertionError(told["message"])
        return any_ran

    def turn(self, until_s: float) -> bool:
        """Go to the time of the next timer if it comes by then. True if it did."""
        next_s = self.next_timer_s
        if next_s is None or next_s > until_s:
            self.now_s = max(self.now_s, until_s)
            return False
        self.now_s = max(self.now_s, next_s)
        while self._timers and self._timers[0].when() <= self.now_s:
            self._ready.append(heapq.heappop(self._timers))
        return True

    # -- as asyncio has it -------------------------------------------------------------------------

    def time(self) -> float:
        return self.now_s

    def get_debug(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def call_soon(
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self._self, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self._self, context)
        heapq.heappush(self._timers, timer)
        return timer

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.now_s + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is left out when its time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self._self)

    def create_task(self, coro: Any, **settings: Any) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=self._self, **settings)

    async def connect_accepted_socket(self, protocol_factory: Any, sock: Any, **_: Any) -> Any:
        """``sock`` is a transport of ours."""
        sock.begin(protocol_factory())
        return sock, sock.protocol

    async def create_connection(self, protocol_factory: Any, *_: Any, **__: Any) -> Any:
        """The transport that ``dial`` gives, or its error."""
        transport: Any = await self.dial()
        transport.begin(protocol_factory())
        return transport, transport.protocol


async def _nobody_to_dial() -> Any:
    raise ConnectionRefusedError
