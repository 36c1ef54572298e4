"""Proxies on a thread and loop of their own, for callers that are not asynchronous."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, cast

import uvloop

from harness.proxies.address import Address
from harness.proxies.proxy import Proxy

P = ParamSpec("P")
T = TypeVar("T")
LIMIT_S = 30


class RunningProxies:
    """One thread and loop for any number of proxies; all of them stop when the block ends."""

    def __init__(self) -> None:
        self.proxies: list[Proxy] = []
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def add(self, proxy: Proxy) -> Address:
        """Start it here; returns where it listens. Raises OSError when it cannot."""
        self.wait_for(proxy.start())
        self.proxies.append(proxy)
        return proxy.listen

    def add_now(self, proxy: Proxy) -> Address:
        """The same for who is on the loop already: a proxy that is made for an address seen."""
        proxy.start_now()
        self.proxies.append(proxy)
        return proxy.listen

    def remove(self, proxy: Proxy) -> None:
        """Stop it."""
        self.proxies.remove(proxy)
        self.wait_for(proxy.stop())

    def call(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What ``work`` returns, called on the loop: there alone proxies may be touched.

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
            raise RuntimeError(
                "this is the proxies' own thread, which cannot wait for itself: touch proxies "
                "directly here (add_now in place of add), or call from another thread"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=LIMIT_S)

    def stop(self) -> None:
        """Stop all proxies, then the thread."""
        if self._loop.is_closed():
            return
        try:
            for proxy in self.proxies:
                self.wait_for(proxy.stop())
            self.wait_for(self._loop.shutdown_default_executor())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
