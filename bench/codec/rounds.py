"""Several sides that do the same work, timed in turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median

ROUNDS = 25
ROUND_S = 0.008  # long for the clock, short for whatever else the machine does


def medians(
    sides: dict[str, Callable[[], object]], rounds: int = ROUNDS, round_s: float = ROUND_S
) -> dict[str, float]:
    """Seconds of processor time a call of each side: the median of its rounds.

    Every round times every side once; the one that goes first changes. The same number of calls
    for each side would leave the quick ones below what the clock can see, so each has its own.
    """
    repeats = {name: _repeats(work, round_s) for name, work in sides.items()}
    gc.collect()
    gc.freeze()  # what the modules hold is not searched again and again while we time
    taken: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(rounds):
        for name in order:
            taken[name].append(_seconds(sides[name], repeats[name]) / repeats[name])
        order.append(order.pop(0))
    gc.unfreeze()
    return {name: median(found) for name, found in taken.items()}


def _repeats(work: Callable[[], object], round_s: float) -> int:
    _seconds(work, 20)  # warm: interpreters of 3.11 and later specialise what they run often
    return max(1, int(round_s / max(_seconds(work, 5) / 5, 1e-9)))


def _seconds(work: Callable[[], object], repeats: int) -> float:
    began = time.process_time()  # what other processes do meanwhile is not ours
    for _ in range(repeats):
        work()
    return time.process_time() - began
