"""The order of slices: one computes beside three that wait; what measures time runs alone, last.

A slice waits for the parts that its own part names in ``after``. A lane without slices of its own
takes slices of the other one. With two that wait, half of the time of two processors was idle
towards the end, where few and long waits are left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from checks.part import Lane, Slice
from checks.part_run import SliceRow

BESIDE = (Lane.WORKS, Lane.WAITS, Lane.WAITS, Lane.WAITS)


class Queue:
    """Slices that are left, for the threads of the lanes."""

    def __init__(self, slices: Sequence[Slice]) -> None:
        self._left = list(slices)
        self._running: list[Slice] = []
        self._changed = threading.Condition()

    def take(self, lane: Lane) -> Slice | None:
        """The next slice for this lane, None when there is none left; waits for what it needs."""
        with self._changed:
            while self._left:
                ready = [one for one in self._left if not self._is_held_back(one)]
                if ready:
                    ready.sort(key=lambda one: one.part.lane is not lane)  # stable
                    self._left.remove(ready[0])
                    self._running.append(ready[0])
                    return ready[0]
                self._changed.wait()
            return None

    def done(self, one: Slice) -> None:
        with self._changed:
            self._running.remove(one)
            self._changed.notify_all()

    def _is_held_back(self, one: Slice) -> bool:
        open_names = {other.part.name for other in (*self._left, *self._running)}
        return any(name in open_names for name in one.part.after)


def run_all(
    slices: Sequence[Slice], run: Callable[[Slice], SliceRow], stop: threading.Event
) -> list[SliceRow]:
    """The rows of all slices, in the order of their ends.

    KeyboardInterrupt sets ``stop``, by which ``run`` and the lanes end, and is raised again.
    """
    rows: list[SliceRow] = []
    queue = Queue([one for one in slices if one.part.lane is not Lane.ALONE])

    def work(lane: Lane) -> None:
        while not stop.is_set() and (one := queue.take(lane)) is not None:
            try:
                rows.append(run(one))
            finally:
                queue.done(one)

    with ThreadPoolExecutor(len(BESIDE)) as pool:
        try:
            for done in [pool.submit(work, lane) for lane in BESIDE]:
                done.result()
        except KeyboardInterrupt:
            stop.set()
            raise
    rows += [run(one) for one in slices if one.part.lane is Lane.ALONE]
    return rows
