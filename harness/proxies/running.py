"""Proxies on a thread and loop of their own, for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, ParamSpec, Self, TypeVar, cast

from harness.base.address import Address
from harness.base.event_loop import loop_factory
from harness.proxies.proxy import Proxy

P = ParamSpec("P")
T = TypeVar("T")
LIMIT_S = 30
STOP_LIMIT_S = 60


class RunningProxies:
    """One thread and loop for any number of proxies; all of them stop when the block ends.

    The thread closes its loop itself: where a callback keeps it longer than ``stop`` waits,
    everything is closed as soon as that callback returns.
    """

    def __init__(self) -> None:
        self.proxies: list[Proxy] = []
        self._loop = loop_factory()()
        self._thread = threading.Thread(target=self._run, name="proxies", daemon=True)
        self._is_asked_to_stop = asyncio.Event()
        self._failures: list[BaseException] = []
        self._left_open: list[warnings.WarningMessage] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def add(self, proxy: Proxy) -> Address:
        """Start a proxy here and return its address. Raises OSError when it cannot listen."""
        self.proxies.append(proxy)  # first: whatever becomes of its start, it is stopped
        self.wait_for(proxy.start())
        return proxy.listen

    def add_now(self, proxy: Proxy) -> Address:
        """Start a proxy, for callers on the loop: one that is made for an address seen."""
        proxy.start_now()
        self.proxies.append(proxy)
        return proxy.listen

    def remove(self, proxy: Proxy) -> None:
        """Stop a proxy."""
        proxy.drop_unread()
        self.wait_for(proxy.stop())
        self.proxies.remove(proxy)

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of ``work``, called on the loop: only there proxies may be touched.

        A coroutine function is awaited, its value is returned.
        """

        async def on_loop() -> Any:
            found = work(*args, **kwargs)
            return await found if inspect.isawaitable(found) else found

        return cast("T", self.wait_for(on_loop()))

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The value of a coroutine that runs on the loop.

        Raises RuntimeError on the loop's own thread, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            work.close()
        self._require_another_thread()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=LIMIT_S)

    def _require_another_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise RuntimeError(
                "this is the proxies' own thread, which cannot wait for itself: touch proxies "
                "directly here (add_now in place of add), or call from another thread"
            )

    def stop(self) -> None:
        """Stop all proxies, then the thread.

        Raises TimeoutError, with the place, when a callback does not return. Warns of what was open
        on the loop and was no proxy of ours.
        """
        self._require_another_thread()
        if self._thread.ident is None:
            self._loop.close()
        if self._loop.is_closed():
            return
        for proxy in list(self.proxies):
            proxy.drop_unread()
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._is_asked_to_stop.set)
        self._thread.join(STOP_LIMIT_S)
        if self._thread.is_alive():
            raise TimeoutError(f"the proxies did not stop in {STOP_LIMIT_S} s: {self._place()}")
        for failure in self._failures:
            raise failure
        for left in self._left_open:
            warnings.warn(left.message, stacklevel=2)

    def _place(self) -> str:
        """Return the place in the code where the thread is now."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        return "".join(traceback.format_stack(frame)) if frame else "it is ending"

    # -- on the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        runner = asyncio.Runner(loop_factory=lambda: self._loop)
        try:
            self._failures = runner.run(self._until_stopped())
        finally:
            # While a warning is an error, uvloop's close does not close what it warns of, and
            # waits for its end without a limit.
            with warnings.catch_warnings(record=True) as self._left_open:
                warnings.simplefilter("always", ResourceWarning)
                runner.close()

    async def _until_stopped(self) -> list[BaseException]:
        """Return the errors of proxies that did not stop in good order."""
        await self._is_asked_to_stop.wait()
        ended = await asyncio.gather(*(one.stop() for one in self.proxies), return_exceptions=True)
        return [each for each in ended if each is not None]
