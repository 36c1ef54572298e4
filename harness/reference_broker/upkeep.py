"""What a broker does for itself from time to time, in slices, so that clients hardly notice."""

import asyncio
import time
from collections.abc import Callable, Iterator

from harness.ids import TimeMs

_SLICE_MS = 5.0


class Upkeep:
    """Work that is begun again and again, for as long as the broker is there.

    `begin` is given the time and returns the steps of one round; `first_after_ms` and
    `interval_ms` are the pauses before the first round and between two of them.
    """

    def __init__(
        self,
        begin: Callable[[TimeMs], Iterator[None]],
        now: Callable[[], TimeMs],
        first_after_ms: int,
        interval_ms: Callable[[], int],
    ) -> None:
        self._begin, self._now = begin, now
        self._first_after_ms, self._interval_ms = first_after_ms, interval_ms
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Set the first round's timer."""
        self._call_later(self._first_after_ms, self._begin_round)

    def stop(self) -> None:
        """Leave a round that is under way where it is."""
        if self._timer is not None:
            self._timer.cancel()

    def _begin_round(self) -> None:
        self._go_on(self._begin(self._now()))

    def _go_on(self, steps: Iterator[None]) -> None:
        """For one slice: others have their turn before the next."""
        begun_at = time.monotonic()
        for _ in steps:
            if (time.monotonic() - begun_at) * 1000 >= _SLICE_MS:
                self._call_later(0, lambda: self._go_on(steps))
                return
        self._call_later(self._interval_ms(), self._begin_round)

    def _call_later(self, delay_ms: int, what: Callable[[], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay_ms / 1000, what)
