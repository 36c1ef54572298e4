"""Frames that stand aside until something happens, of one direction of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from harness.proxies.step import Aside

NEVER_MS = float("inf")


class DeferredFrames:
    """Each is released once: by its gate, its time, or all together when the sender has ended."""

    def __init__(self, released: Callable[[Aside], None]) -> None:
        self._released = released
        self._waiting: dict[int, tuple[Aside, asyncio.TimerHandle | None, Callable[[], None]]] = {}
        self._count = 0

    def add(self, aside: Aside) -> None:
        """Set a frame aside; it may be released before this returns."""
        number = self._count
        self._count += 1
        release = partial(self._release, number)
        timer = None
        if aside.at_most_ms != NEVER_MS:
            timer = asyncio.get_running_loop().call_later(aside.at_most_ms / 1000, release)
        self._waiting[number] = (aside, timer, release)
        aside.gate.when_open(release)

    def release_all(self) -> None:
        """Release all, in the order in which they were set aside."""
        for number in list(self._waiting):
            self._release(number)

    def drop(self) -> None:
        """Forget all without releasing them."""
        for number in list(self._waiting):
            self._forget(number)

    def _release(self, number: int) -> None:
        if number in self._waiting:
            self._released(self._forget(number))

    def _forget(self, number: int) -> Aside:
        aside, timer, release = self._waiting.pop(number)
        aside.gate.forget(release)
        if timer:
            timer.cancel()
        return aside
