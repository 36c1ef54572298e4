"""Two ways to do the same work, measured in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

ROUNDS = 40
ROUND_S = 0.01  # long for the clock, short for whatever else the machine does


@dataclass(frozen=True, slots=True)
class Case:
    """``ours`` and ``theirs`` do the same work."""

    group: str
    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]


def ratio(case: Case) -> float:
    """Our time by theirs. The best of many short rounds each: disturbances only ever add."""
    repeats = max(1, int(ROUND_S / max(_seconds(case.theirs, 1), 1e-9)))
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for side, work in enumerate((case.ours, case.theirs)):
            best[side] = min(best[side], _seconds(work, repeats))
    return best[0] / best[1]


def median_ratio(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> float:
    """Return the median over the rounds of our value divided by theirs.

    The order changes from round to round; one warm-up round comes first.
    """
    found = []
    for number in range(rounds + 1):
        given = {one: one() for one in ((ours, theirs) if number % 2 else (theirs, ours))}
        found.append(given[ours] / given[theirs])
    return median(found[1:])


def _seconds(work: Callable[[], object], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        work()
    return time.perf_counter() - began
