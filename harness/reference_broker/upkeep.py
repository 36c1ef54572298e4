"""Periodic background work of a broker, in slices that hardly delay clients."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator

from harness.base.ids import TimeMs

_LOG = logging.getLogger(__name__)
_SLICE_MS = 5.0


class Upkeep:
    """Work that begins again and again for as long as the broker runs.

    `begin` gets the time and returns the steps of one round; `first_after_ms` and `interval_ms` are
    the pauses before the first round and between two rounds.
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
        """Stop the timer; a round in progress stays unfinished."""
        if self._timer is not None:
            self._timer.cancel()

    def _begin_round(self) -> None:
        self._go_on(self._steps())

    def _steps(self) -> Iterator[None]:
        yield from self._begin(self._now())

    def _go_on(self, steps: Iterator[None]) -> None:
        """Do one slice of a round; other work of the loop runs before the next slice."""
        try:
            is_over = _is_over_after_a_slice(steps)
        except Exception:  # noqa: BLE001 - one bad round must not be the last
            _LOG.exception("a round of upkeep failed, the next one comes in its time")
            is_over = True
        if is_over:
            self._call_later(self._interval_ms(), self._begin_round)
        else:
            self._call_later(0, lambda: self._go_on(steps))

    def _call_later(self, delay_ms: int, what: Callable[[], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay_ms / 1000, what)


def _is_over_after_a_slice(steps: Iterator[None]) -> bool:
    begun_at = time.monotonic()
    return not any((time.monotonic() - begun_at) * 1000 >= _SLICE_MS for _ in steps)
