"""The faults of a run: drawn from its seed, one after the other, each healed before the next."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.targets.proxied import ProxiedTarget
from harness.targets.target import KILL_NODE, PAUSE_NODE, RESTART_NODE, Target
from labs.transaction_histories.notes import TransactionNotes

SHORTEST_MS, LONGEST_MS = 200, 2500
LATE_MS = 3500
"""Longer than a client waits for an answer: the request arrives behind its repetition."""
APIS = ("Produce", "AddPartitionsToTxn", "EndTxn", "EndTxn", "TxnOffsetCommit", "InitProducerId")
KILL, PAUSE, CUT, RESET, LOST, REFUSED, LATE = (
    "kill", "pause", "cut", "reset", "lost answers", "lost requests", "late requests",
)  # fmt: skip
KINDS = (KILL, PAUSE, CUT, RESET, LOST, REFUSED, LATE)
NEEDS = {KILL: (KILL_NODE, RESTART_NODE), PAUSE: (PAUSE_NODE,)}
"""Capabilities of the target."""


@dataclass(frozen=True, slots=True)
class TransactionFault:
    """``node`` for the kinds that strike one, ``api`` for those that strike frames."""

    kind: str
    node: int
    api: str
    for_ms: int
    share: float

    def __str__(self) -> str:
        about = self.api if self.kind in (LOST, REFUSED, LATE) else f"broker {self.node}"
        return f"{self.kind}, {about}, for {self.for_ms} ms"


def plan(seed: str, count: int, nodes: Sequence[int], kinds: Sequence[str]) -> (
    list[TransactionFault]
):  # fmt: skip
    """Return the faults of a seed, the same on every machine."""
    dice = random.Random(f"{seed} faults")
    return [
        TransactionFault(
            kind=dice.choice(kinds),
            node=dice.choice(nodes),
            api=dice.choice(APIS),
            for_ms=dice.randint(SHORTEST_MS, LONGEST_MS),
            share=dice.choice((0.2, 0.5, 1.0)),
        )
        for _ in range(count)
    ]


def kinds_for(target: Target, *, keeps_data: bool) -> list[str]:
    """The faults that the target allows; a kill only where the data stay."""
    able = [kind for kind in KINDS if target.capabilities.issuperset(NEEDS.get(kind, ()))]
    return [kind for kind in able if kind != KILL or keeps_data]


class TransactionNemesis:
    """Applies a fault, and heals it."""

    def __init__(self, target: Target, behind: ProxiedTarget, notes: TransactionNotes) -> None:
        self._target, self._behind, self._notes = target, behind, notes

    def strike(self, fault: TransactionFault) -> None:
        """Return when the fault is healed. Raises TargetError: a node does not come back."""
        begin, end = self._deeds()[fault.kind]
        self._notes.fault(f"begins: {fault}")
        begin(fault)
        try:
            time.sleep(fault.for_ms / 1000)  # the duration of the fault itself
        finally:
            end(fault)
            self._notes.fault(f"ends: {fault}")

    def _deeds(self) -> dict[str, tuple[_Deed, _Deed]]:
        target, behind, heal = self._target, self._behind, self._heal
        return {
            KILL: (lambda one: target.kill_node(one.node),
                   lambda one: target.restart_node(one.node)),
            PAUSE: (lambda one: target.pause_node(one.node),
                    lambda one: target.resume_node(one.node)),
            CUT: (lambda one: behind.cut(one.node), heal),
            RESET: (lambda one: behind.reset(one.node), heal),
            LOST: (lambda one: behind.close_at_answers(one.api, probability=one.share), heal),
            REFUSED: (lambda one: behind.close_at_requests(one.api, probability=one.share), heal),
            LATE: (lambda one: behind.delay_requests(one.api, by_ms=LATE_MS,
                                                     probability=one.share), heal),
        }  # fmt: skip

    def _heal(self, _: TransactionFault) -> None:
        self._behind.heal()


_Deed = Callable[[TransactionFault], object]
