"""Invariants that hold after every step.

`committed` has the records that were below the high watermark of any leader. After an unclean
election or the loss of a tail, records may be lost: from there on only the invariants that hold
even then are checked.
"""

from __future__ import annotations

from bisect import bisect_left

from harness.base.ids import BrokerId, Offset
from harness.codec.messages import PartitionChangeRecord
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER,
    PartitionRegistration,
)
from labs.replication_model.broker import Broker
from labs.replication_model.world import ModelWorld

_NO_END = Offset(2**63)


class BrokenInvariant(AssertionError):
    """An invariant does not hold."""


def hold(is_true: bool, what: str) -> None:
    """Raise Broken if it is not true."""
    if not is_true:
        raise BrokenInvariant(what)


def _last_offset(batch: StoredBatch) -> Offset:
    return batch.last_offset


class Invariants:
    """Checks a world after each step, and remembers its observations."""

    def __init__(self, world: ModelWorld) -> None:
        self._world = world
        self.committed: list[StoredBatch] = []
        self.may_lose = False
        self._leader_of: dict[int, BrokerId] = {}
        self._watermarks: dict[tuple[int, int], Offset] = {}
        self._seen: dict[int, tuple[int, Offset, Offset]] = {}
        self._epochs: dict[tuple[int, int], int] = {}
        self._decided = world.controller.registered
        self._read = len(world.controller.written)

    def check(self) -> None:
        """Check all invariants. Raises Broken."""
        self._decisions()
        self.may_lose = self.may_lose or any(one.disk.lost_tail for one in self._world.brokers)
        for broker in sorted(self._world.brokers, key=lambda one: not one.leads):
            if broker.partition is not None:
                self._replica(broker, broker.partition)
        self._true_leader()

    # -- the controller ----------------------------------------------------------------------------

    def _decisions(self) -> None:
        """Each change on its own."""
        written = self._world.controller.written
        for batch in written[self._read :]:
            for record in batch.records:
                if isinstance(record, PartitionChangeRecord):
                    before, self._decided = self._decided, self._decided.changed(record)
                    self._decision(before, self._decided, batch.active)
        self._read = len(written)
        hold(self._decided == self._world.controller.registered, "the image is what is written")

    def _decision(
        self,
        before: PartitionRegistration,
        after: PartitionRegistration,
        active: frozenset[BrokerId],
    ) -> None:
        told = f"{before} became {after}"
        hold(after.partition_epoch == before.partition_epoch + 1, f"partition epoch: {told}")
        moved = after.leader_epoch - before.leader_epoch
        hold(moved == 1 or (moved == 0 and after.leader == before.leader), f"leader epoch: {told}")
        hold(set(after.isr) <= set(after.replicas), f"in sync without a replica: {told}")
        hold(len({*after.isr}) == len(after.isr), f"in sync twice: {told}")
        hold(after.leader == NO_LEADER or after.leader in after.isr, f"leads, not in sync: {told}")
        hold(not set(after.isr) & set(after.elr), f"in sync and eligible: {told}")
        hold(bool(after.isr) or self._world.plan.keeps_eligible, f"nobody in sync: {told}")
        are_active = {*after.isr} - {*before.isr} <= active
        hold(are_active or after.leader == NO_LEADER, f"joined, fenced or going away: {told}")
        self._decided_unclean(before, after)

    def _decided_unclean(self, before: PartitionRegistration, after: PartitionRegistration) -> None:
        """Note an unclean decision, after which records may be lost.

        A cancelled reassignment without any replica in sync may name a leader that is not even
        running.
        """
        entitled = {NO_LEADER, before.leader, *before.isr, *before.elr}
        if after.leader not in entitled:
            self.may_lose = True
        if after.leader == NO_LEADER and not {*after.isr} <= entitled:
            self.may_lose = True

    # -- the brokers -------------------------------------------------------------------------------

    def _replica(self, broker: Broker, partition: Partition) -> None:
        end, watermark = partition.log.end_offset, partition.high_watermark
        name = f"broker {broker.id}"
        hold(watermark <= end, f"{name}: high watermark {watermark} behind the end {end}")
        epoch, had, _ = self._seen.get(broker.id, (-1, Offset(0), Offset(0)))
        self._seen[broker.id] = broker.epoch, watermark, end
        if epoch == broker.epoch and not self.may_lose:
            hold(end >= had, f"{name}: truncated to {end}, below its high watermark {had}")
        known = self._epochs.get((broker.id, broker.epoch), -1)
        self._epochs[broker.id, broker.epoch] = partition.leader_epoch
        hold(partition.leader_epoch >= known, f"{name}: leader epoch {known} was known")
        if partition.leading is not None:
            self._leader(broker, partition)
        if not self.may_lose:
            self._agrees(broker, partition)

    def _leader(self, broker: Broker, partition: Partition) -> None:
        leading = partition.leading
        assert leading is not None
        first = self._leader_of.setdefault(leading.epoch, broker.id)
        hold(first == broker.id, f"{first} and {broker.id} lead in epoch {leading.epoch}")
        key, watermark = (broker.epoch, leading.epoch), partition.high_watermark
        before = self._watermarks.get(key, Offset(0))
        hold(watermark >= before, f"high watermark from {before} to {watermark} in one epoch")
        self._watermarks[key] = watermark

    def _agrees(self, broker: Broker, partition: Partition) -> None:
        """Compare the records below the high watermark with the committed ones.

        A broker that led for less than a step is not observed as leader: the high watermark that it
        sent to others counts.
        """
        watermark = partition.high_watermark
        end = self.committed[-1].last_offset + 1 if self.committed else 0
        if watermark > end:
            self.committed += partition.log.between(Offset(end), watermark)
        start = partition.log.start_offset
        agrees = partition.log.between(start, watermark) == self._committed(start, watermark)
        hold(agrees, f"broker {broker.id} has other records below its high watermark")

    def _committed(self, begin: Offset, end: Offset = _NO_END) -> list[StoredBatch]:
        """Return the committed batches between these offsets, the first batch whole."""
        first = bisect_left(self.committed, begin, key=_last_offset)
        return self.committed[first : bisect_left(self.committed, end, key=_last_offset)]

    def _true_leader(self) -> None:
        """Check the leader named by the controller, even if that broker does not know it yet."""
        world, registered = self._world, self._decided
        if registered.leader == NO_LEADER:
            return
        leader = world.broker(registered.leader)
        if not self.may_lose:
            has, start = leader.batches, leader.log.start_offset
            committed = self._committed(start)
            kept = has[: len(committed)] == committed
            hold(kept, f"leader {leader.id} lacks what was committed: {registered}")
            due = (each for each in world.acknowledged if each.last_offset >= start)
            lost = [each for each in due if each not in has]
            hold(not lost, f"leader {leader.id} lacks what was acknowledged: {registered}")
        partition = leader.partition
        leading = None if partition is None else partition.leading
        if partition is None or leading is None or leading.epoch != registered.leader_epoch:
            return
        for member in map(world.broker, registered.isr):
            is_behind = member.log.end_offset < partition.high_watermark
            hold(
                not is_behind or member.disk.lost_tail,
                f"{member.id} is in sync and ends at {member.log.end_offset}, "
                f"the high watermark is {partition.high_watermark}",
            )
