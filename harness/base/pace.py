"""The pace of the machine beside a wait: a thread wakes every 5 ms and notes how late it was.

A failure of a time says nothing where the machine stood still meanwhile; a silence proves less.
What this process worked itself in such a pause is taken off: the machine let it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.base.operating_system import load_average

STEP_S = 0.005
"""Between two wakes."""

TOLERANCE_S = 0.005
"""Of a pause, where all of them are added up: timers are a little late on an idle machine too."""

PAUSE_SHARE = 0.1
"""Of a bound: a single pause that is longer may be why it was missed."""

LOST_SHARE = 0.5
"""Of the time watched: the machine did not even keep half of its pace where more was lost."""

FACTORS = (1, 6, 6, 6)
"""Factors of all timeouts, one for each attempt, while the machine is starved."""

MOST_TIMES_AS_LONG = 10
"""A silence is extended no further, however slow the machine is."""

BUSY_LOAD = 3
"""Processes that wait for each processor: a broker gets so small a share that it seems to hang."""

TIMES_AS_PATIENT = 3
"""On a busy machine, with a time that only ends a wait for ever."""


def patience(load: Callable[[], tuple[float, float, float]] = load_average) -> int:
    """Return the factor of a time that is no bound of a requirement but ends a wait for ever."""
    is_busy = load()[0] > BUSY_LOAD * (os.cpu_count() or 1)
    return TIMES_AS_PATIENT if is_busy else 1


class Pace:
    """The lateness of the wakes so far, including the one that is due now."""

    def __init__(
        self,
        now_s: Callable[[], float] = time.monotonic,
        worked_s: Callable[[], float] = time.process_time,
    ) -> None:
        """``worked_s``: the time of the processor that this process has had."""
        self._now_s, self._worked_s = now_s, worked_s
        self._began_s = self._woke_s = now_s()
        self._worked_before_s = worked_s()
        self._longest_s = self._lost_s = 0.0

    def note_wake(self) -> None:
        """Note that the watch is awake."""
        late_s = self._late_s()
        self._longest_s = max(self._longest_s, late_s)
        self._lost_s += max(late_s - TOLERANCE_S, 0.0)
        self._woke_s, self._worked_before_s = self._now_s(), self._worked_s()

    def end(self) -> None:
        """Note that the watch has ended: what comes later is no pause."""
        self.note_wake()
        ended_s = self._woke_s
        self._now_s = lambda: ended_s

    def _late_s(self) -> float:
        worked_s = self._worked_s() - self._worked_before_s
        return max(self._now_s() - self._woke_s - STEP_S - worked_s, 0.0)

    @property
    def watched_ms(self) -> float:
        """Milliseconds since the watch began."""
        return (self._now_s() - self._began_s) * 1000

    @property
    def longest_ms(self) -> float:
        """The longest pause."""
        return max(self._longest_s, self._late_s()) * 1000

    @property
    def lost_ms(self) -> float:
        """All pauses together, each without what is tolerated."""
        return (self._lost_s + max(self._late_s() - TOLERANCE_S, 0.0)) * 1000

    def is_starved(self, bound_ms: float) -> bool:
        """True if a failure to keep this bound may come from the machine."""
        paused = self.longest_ms > PAUSE_SHARE * bound_ms
        return paused or self.lost_ms > LOST_SHARE * self.watched_ms

    def __str__(self) -> str:
        return (
            f"a pause of {self.longest_ms:.0f} ms, all pauses {self.lost_ms:.0f} ms "
            f"of {self.watched_ms:.0f} ms"
        )


@contextmanager
def watched_pace() -> Iterator[Pace]:
    """The pace for as long as the block lasts, as far as this process feels it."""
    pace, ended = Pace(), threading.Event()

    def watch() -> None:
        while not ended.wait(STEP_S):
            pace.note_wake()

    thread = threading.Thread(target=watch, name="pace", daemon=True)
    thread.start()
    try:
        yield pace
    finally:
        pace.end()
        ended.set()
        thread.join()


def time_left(for_ms: float, at_most_ms: float | None = None) -> Iterator[float]:
    """Yield the rest, in ms, of a period in which nothing may happen, until it has passed.

    The first value is the whole period. Pauses of the machine extend the period: a wrong event may
    be as late. ``at_most_ms``: the longest period, where something is due afterwards.
    """
    longest_ms = MOST_TIMES_AS_LONG * for_ms if at_most_ms is None else at_most_ms
    with watched_pace() as pace:
        left_ms = for_ms
        while left_ms > 0:
            yield left_ms
            added_ms = min(pace.lost_ms, longest_ms - for_ms)
            left_ms = for_ms + added_ms - pace.watched_ms
