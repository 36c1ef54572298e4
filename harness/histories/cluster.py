"""Invariants over all answers of a cluster to its clients in a whole scenario.

In addition to the invariants of one answer: each epoch has one leader in the answers of all
brokers. In the answers to one client of a broker, which come in the order of its requests,
the leader epoch never goes back, and the high watermark does not go back while that broker leads in
one epoch. Pure and total.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.histories.replication import UNKNOWN, Observation, ReplicationFinding, Violation


def check_cluster(seen: Iterable[Observation]) -> list[ReplicationFinding]:
    """Return the violations, in the order of the observations that show them.

    ``seen``: the observations of each client of a broker in order, of any partitions and
    brokers.
    """
    leaders: dict[tuple[str, int], Observation] = {}
    clients: defaultdict[tuple[str, str], _ClientAnswers] = defaultdict(_ClientAnswers)
    found: list[ReplicationFinding] = []
    for one in seen:
        found += _check_registration(one)
        found += _check_leader(one, leaders)
        found += clients[one.client, one.partition].check(one)
    return found


def _check_registration(one: Observation) -> Iterator[ReplicationFinding]:
    """Check leader, replicas and ISR of one answer."""
    if one.isr is None:
        return
    if one.leader != UNKNOWN and one.leader not in one.isr:
        yield ReplicationFinding(
            Violation.ISR_WITHOUT_LEADER, one, f"{one.leader} leads, ISR {one.isr}"
        )
    strangers = set(one.isr) - set(one.replicas or one.isr)
    if strangers:
        yield ReplicationFinding(
            Violation.ISR_OF_STRANGERS, one, f"{sorted(strangers)} in {one.isr}"
        )


def _check_leader(
    one: Observation, leaders: dict[tuple[str, int], Observation]
) -> Iterator[ReplicationFinding]:
    if UNKNOWN in (one.leader, one.leader_epoch):
        return
    first = leaders.setdefault((one.partition, one.leader_epoch), one)
    if first.leader != one.leader:
        told = f"{first.leader} by {first.node}, {one.leader} by {one.node}"
        yield ReplicationFinding(Violation.TWO_LEADERS, one, f"in epoch {one.leader_epoch}: {told}")


@dataclass(slots=True)
class _ClientAnswers:
    """The last values of one partition in the answers to one client of a broker.

    The end of the read records and the last stable offset are at or below the high watermark of
    their moment. They are lower bounds for the high watermarks of later answers; not for the one in
    the same answer, which Kafka looks up before it reads (class Partition, fetchRecords).

    A high watermark that fell is a finding only when a later answer shows that the broker leads in
    the same epoch as before: a new leader may return a lower one.
    """

    epoch: int = UNKNOWN
    leads: bool = False
    watermark: int = UNKNOWN
    fell: ReplicationFinding | None = None

    def check(self, one: Observation) -> Iterator[ReplicationFinding]:
        if one.leader_epoch != UNKNOWN:
            yield from self._check_epoch(one)
        if one.high_watermark != UNKNOWN and self.leads:
            if one.high_watermark < self.watermark and self.fell is None:
                told = f"{self.watermark}, then {one.high_watermark}"
                self.fell = ReplicationFinding(Violation.WATERMARK_FELL, one, told)
            reached = (one.high_watermark, one.last_stable_offset, one.read_to)
            self.watermark = max(self.watermark, *reached)

    def _check_epoch(self, one: Observation) -> Iterator[ReplicationFinding]:
        if one.leader_epoch < self.epoch:
            told = f"{self.epoch}, then {one.leader_epoch}"
            yield ReplicationFinding(Violation.EPOCH_FELL, one, told)
        leads = one.leader == one.node
        if self.leads and leads and one.leader_epoch == self.epoch:
            if self.fell is not None:
                yield self.fell
        else:
            self.watermark = UNKNOWN
        self.fell = None
        self.epoch, self.leads = max(self.epoch, one.leader_epoch), leads
