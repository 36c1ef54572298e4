"""What clients of a cluster were told in a whole scenario, and what must be true of all of it.

Beside the promises for one answer: one leader an epoch, whoever tells it; and by one door to a
broker, whose answers come in the order of its requests, neither a leader epoch nor, while that
broker leads in one epoch, a high watermark goes back. Pure and total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.histories.replication import UNKNOWN, Broken, Finding, Observation


def check_cluster(seen: Iterable[Observation]) -> list[Finding]:
    """The broken promises, in the order of the observations that show them.

    ``seen``: those of each door in order, of any partitions and brokers.
    """
    leaders: dict[tuple[str, int], Observation] = {}
    doors: defaultdict[tuple[str, str], _Door] = defaultdict(_Door)
    found: list[Finding] = []
    for one in seen:
        found += _check_registration(one)
        found += _check_leader(one, leaders)
        found += doors[one.door, one.partition].check(one)
    return found


def _check_registration(one: Observation) -> Iterator[Finding]:
    """What one answer tells of leader, replicas and ISR."""
    if one.isr is None:
        return
    if one.leader != UNKNOWN and one.leader not in one.isr:
        yield Finding(Broken.ISR_WITHOUT_LEADER, one, f"{one.leader} leads, ISR {one.isr}")
    strangers = set(one.isr) - set(one.replicas or one.isr)
    if strangers:
        yield Finding(Broken.ISR_OF_STRANGERS, one, f"{sorted(strangers)} in {one.isr}")


def _check_leader(
    one: Observation, leaders: dict[tuple[str, int], Observation]
) -> Iterator[Finding]:
    if UNKNOWN in (one.leader, one.leader_epoch):
        return
    first = leaders.setdefault((one.partition, one.leader_epoch), one)
    if first.leader != one.leader:
        told = f"{first.leader} by {first.node}, {one.leader} by {one.node}"
        yield Finding(Broken.TWO_LEADERS, one, f"in epoch {one.leader_epoch}: {told}")


@dataclass(slots=True)
class _Door:
    """One partition through one door: what was told last.

    What was read, and the last stable offset, are at or below the high watermark of their moment,
    and bound those that are told afterwards; not the one in the same answer, which Kafka looks up
    before it reads (class Partition, fetchRecords).

    A high watermark that fell counts when the broker says afterwards that it leads in the same
    epoch as before: what a new leader tells may be less.
    """

    epoch: int = UNKNOWN
    leads: bool = False
    watermark: int = UNKNOWN
    fell: Finding | None = None

    def check(self, one: Observation) -> Iterator[Finding]:
        if one.leader_epoch != UNKNOWN:
            yield from self._check_epoch(one)
        if one.high_watermark != UNKNOWN and self.leads:
            if one.high_watermark < self.watermark and self.fell is None:
                told = f"{self.watermark}, then {one.high_watermark}"
                self.fell = Finding(Broken.WATERMARK_FELL, one, told)
            reached = (one.high_watermark, one.last_stable_offset, one.read_to)
            self.watermark = max(self.watermark, *reached)

    def _check_epoch(self, one: Observation) -> Iterator[Finding]:
        if one.leader_epoch < self.epoch:
            told = f"{self.epoch}, then {one.leader_epoch}"
            yield Finding(Broken.EPOCH_FELL, one, told)
        leads = one.leader == one.node
        if self.leads and leads and one.leader_epoch == self.epoch:
            if self.fell is not None:
                yield self.fell
        else:
            self.watermark = UNKNOWN
        self.fell = None
        self.epoch, self.leads = max(self.epoch, one.leader_epoch), leads
