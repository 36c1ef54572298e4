"""Schedules of faults that overlap: kinds, victims and times, drawn from a seed.

The process of a node has one fault in a schedule, and every fault heals alone, so that a broker may
be cut off from the others while answers are lost and another broker is down. A killed broker starts
beside the other faults: it may need a node that is paused or cut off until later.
"""

from __future__ import annotations

import heapq
import random
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from labs.transaction_histories.nemesis import (
    KILL,
    PAUSE,
    Heal,
    TransactionFault,
    TransactionNemesis,
    plan,
)

FEWEST, MOST = 3, 8
SPAN_MS = 5_000
"""All faults begin within this time."""
OF_A_PROCESS = frozenset({KILL, PAUSE})


@dataclass(frozen=True, slots=True)
class TimedFault:
    """A fault that begins so long after its schedule."""

    at_ms: int
    fault: TransactionFault

    @property
    def ends_ms(self) -> int:
        return self.at_ms + self.fault.for_ms

    def excludes(self, later: TimedFault) -> bool:
        """True if both are faults of one process."""
        ours, theirs = self.fault, later.fault
        return {ours.kind, theirs.kind} <= OF_A_PROCESS and ours.node == theirs.node


@dataclass(frozen=True, slots=True)
class OverlappingFaults:
    """The faults of one schedule, in the order in which they begin."""

    parts: tuple[TimedFault, ...]

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(one.fault.kind for one in self.parts)

    def __str__(self) -> str:
        said = (
            f"{one.at_ms}-{one.ends_ms} ms {one.fault.kind} {one.fault.about}" for one in self.parts
        )
        return ", ".join(said)


def schedule(seed: int, nodes: Sequence[int], kinds: Sequence[str]) -> OverlappingFaults:
    """Return the schedule of a seed, the same on every machine."""
    dice = random.Random(f"{seed} schedule")
    faults = plan(f"{seed} schedule", dice.randint(FEWEST, MOST), nodes, kinds)
    drawn = sorted((TimedFault(dice.randint(0, SPAN_MS), one) for one in faults),
                   key=lambda one: one.at_ms)  # fmt: skip
    kept: list[TimedFault] = []
    for one in drawn:
        if not any(earlier.excludes(one) for earlier in kept):
            kept.append(one)
    return OverlappingFaults(tuple(kept))


def carry_out(faults: OverlappingFaults, nemesis: TransactionNemesis) -> None:
    """Return when all are healed. Raises TargetError: a node does not come back."""
    began_s = time.monotonic()
    under_way: list[tuple[int, int, Heal]] = []

    def until(at_ms: int) -> None:
        """Heal what ends before then; what is late begins, or ends, at once."""
        while under_way and under_way[0][0] <= at_ms:
            _sleep_until(began_s, under_way[0][0])
            heapq.heappop(under_way)[2]()
        _sleep_until(began_s, at_ms)

    with ThreadPoolExecutor(len(faults.parts)) as beside:
        starts: list[Future[object]] = []

        def starting(heal: Heal) -> Heal:
            return lambda: starts.append(beside.submit(heal))

        try:
            for number, one in enumerate(faults.parts):
                until(one.at_ms)
                heal = nemesis.begin(one.fault)
                ending = starting(heal) if one.fault.kind == KILL else heal
                heapq.heappush(under_way, (one.ends_ms, number, ending))
            until(max(one.ends_ms for one in faults.parts))
        finally:
            while under_way:
                heapq.heappop(under_way)[2]()
        for start in starts:
            start.result()


def _sleep_until(began_s: float, at_ms: int) -> None:
    time.sleep(max(0.0, began_s + at_ms / 1000 - time.monotonic()))  # as the schedule says
