"""The faults of a run: drawn from its seed, one after the other, each healed before the next.

``schedules.py`` has those that overlap.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from harness.proxies.partitions import isolate_one
from harness.targets.fault import Fault
from harness.targets.proxied import ProxiedTarget
from harness.targets.target import KILL_NODE, PAUSE_NODE, RESTART_NODE, Target
from labs.transaction_histories.notes import TransactionNotes

SHORTEST_MS, LONGEST_MS = 200, 2500
LATE_MS = 3500
"""Longer than a client waits for an answer: the request arrives behind its repetition."""
Heal = Callable[[], object]
APIS = ("Produce", "AddPartitionsToTxn", "EndTxn", "EndTxn", "TxnOffsetCommit", "InitProducerId")
KILL, PAUSE, CUT, RESET, LOST, REFUSED, LATE = (
    "kill", "pause", "cut", "reset", "lost answers", "lost requests", "late requests",
)  # fmt: skip
KINDS = (KILL, PAUSE, CUT, RESET, LOST, REFUSED, LATE)
SPLIT = "split"
"""A broker reaches no other node, and clients reach it; only where the links can be cut."""
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
        return f"{self.kind}, {self.about}, for {self.for_ms} ms"

    @property
    def about(self) -> str:
        """The API of frames, or the broker."""
        return self.api if self.kind in (LOST, REFUSED, LATE) else f"broker {self.node}"

    @property
    def kinds(self) -> frozenset[str]:
        """Its kind, as that of several faults at a time."""
        return frozenset({self.kind})


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
    """Applies faults, and heals each at its end."""

    def __init__(self, target: Target, behind: ProxiedTarget, notes: TransactionNotes) -> None:
        self._target, self._behind, self._notes = target, behind, notes

    def strike(self, fault: TransactionFault) -> None:
        """Return when the fault is healed. Raises TargetError: a node does not come back."""
        end = self.begin(fault)
        try:
            time.sleep(fault.for_ms / 1000)  # the duration of the fault itself
        finally:
            end()

    def begin(self, fault: TransactionFault) -> Heal:
        """Apply the fault; return a function that heals this one alone."""
        self._notes.fault(f"begins: {fault}")
        heal = self._deeds()[fault.kind](fault)

        def end() -> None:
            heal()
            self._notes.fault(f"ends: {fault}")

        return end

    def _deeds(self) -> dict[str, Callable[[TransactionFault], Heal]]:
        behind = self._behind
        return {
            KILL: self._kill,
            PAUSE: self._pause,
            CUT: self._cut,
            RESET: self._reset,
            SPLIT: self._split,
            LOST: lambda one: self._until(behind.close_at_answers(one.api, probability=one.share)),
            REFUSED: lambda one: self._until(
                behind.close_at_requests(one.api, probability=one.share)
            ),
            LATE: lambda one: self._until(
                behind.delay_requests(one.api, by_ms=LATE_MS, probability=one.share)
            ),
        }

    def _kill(self, fault: TransactionFault) -> Heal:
        self._target.kill_node(fault.node)
        return partial(self._target.restart_node, fault.node)

    def _pause(self, fault: TransactionFault) -> Heal:
        self._target.pause_node(fault.node)
        return partial(self._target.resume_node, fault.node)

    def _cut(self, fault: TransactionFault) -> Heal:
        self._behind.cut(fault.node)
        return lambda: self._behind.net.call(self._behind.proxy_of(fault.node).heal)

    def _reset(self, fault: TransactionFault) -> Heal:
        self._behind.reset(fault.node)
        return lambda: None

    def _split(self, fault: TransactionFault) -> Heal:
        links = self._target.links
        return links.partition(isolate_one(fault.node, links.nodes)).heal

    def _until(self, fault: Fault) -> Heal:
        return partial(self._behind.end, fault)
