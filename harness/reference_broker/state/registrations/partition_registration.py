"""The cluster's decisions about one partition, as the metadata log has them.

Source: class PartitionRegistration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from harness.base.ids import BrokerId, LeaderEpoch
from harness.reference_broker.state.registrations.directory_ids import MIGRATING

if TYPE_CHECKING:
    from harness.codec.messages import PartitionChangeRecord, PartitionRecord

NO_LEADER = BrokerId(-1)
NO_LEADER_CHANGE = -2
_FIRST_EPOCH = LeaderEpoch(0)
RECOVERED, RECOVERING = 0, 1
Ids = tuple[BrokerId, ...]


@dataclass(frozen=True, slots=True)
class PartitionRegistration:
    """`replicas` in the order of assignment, the preferred leader first, with their `directories`.

    `partition_epoch` rises with each change, `leader_epoch` with each decision about the leader.
    `removing` and `adding` are not empty while the partition is reassigned (KIP-455). `elr` are the
    replicas that may lead when no replica is in sync (KIP-966). Source of `is_recovering`: KIP-704.
    """

    replicas: Ids
    isr: Ids
    leader: BrokerId
    leader_epoch: LeaderEpoch = _FIRST_EPOCH
    partition_epoch: int = 0
    directories: tuple[UUID, ...] = ()
    removing: Ids = ()
    adding: Ids = ()
    elr: Ids = ()
    last_known_elr: Ids = ()
    is_recovering: bool = False

    @classmethod
    def new(cls, replicas: Sequence[int], isr: Sequence[int]) -> PartitionRegistration:
        """Return the registration of a new partition; the first replica in sync leads."""
        return cls(ids_of(replicas), ids_of(isr), BrokerId(isr[0]))

    @classmethod
    def read(cls, record: PartitionRecord) -> PartitionRegistration:
        """Return the registration that a record contains."""
        return cls(
            ids_of(record.replicas),
            ids_of(record.isr),
            BrokerId(record.leader),
            LeaderEpoch(record.leader_epoch),
            record.partition_epoch,
            tuple(record.directories),
            ids_of(record.removing_replicas),
            ids_of(record.adding_replicas),
            ids_of(record.eligible_leader_replicas or ()),
            ids_of(record.last_known_elr or ()),
            record.leader_recovery_state == RECOVERING,
        )

    def changed(self, change: PartitionChangeRecord) -> PartitionRegistration:
        """Return the registration after a change; fields without a new value stay (``merge``)."""

        def ids(new: list[int] | None, old: Ids) -> Ids:
            return old if new is None else ids_of(new)

        merged = replace(
            self,
            partition_epoch=self.partition_epoch + 1,
            isr=ids(change.isr, self.isr),
            replicas=ids(change.replicas, self.replicas),
            removing=ids(change.removing_replicas, self.removing),
            adding=ids(change.adding_replicas, self.adding),
            elr=ids(change.eligible_leader_replicas, self.elr),
            last_known_elr=ids(change.last_known_elr, self.last_known_elr),
        )
        if change.leader != NO_LEADER_CHANGE:
            next_epoch = LeaderEpoch(self.leader_epoch + 1)
            merged = replace(merged, leader=BrokerId(change.leader), leader_epoch=next_epoch)
        if change.leader_recovery_state >= 0:
            is_recovering = change.leader_recovery_state == RECOVERING
            merged = replace(merged, is_recovering=is_recovering)
        if change.directories is not None:
            merged = replace(merged, directories=tuple(change.directories))
        return merged

    def without_eligible(self) -> PartitionRegistration:
        """Return the registration without eligible leaders, in the next partition epoch if it has
        some.

        Source: class ReplicationControlManager (removeTopicElrs).
        """
        if not (self.elr or self.last_known_elr):
            return self
        return replace(self, elr=(), last_known_elr=(), partition_epoch=self.partition_epoch + 1)

    def as_record(self, topic_id: UUID, index: int) -> PartitionRecord:
        """Return the record with all fields of the registration."""
        from harness.codec.messages import PartitionRecord

        return PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=[*self.replicas],
            isr=[*self.isr],
            removing_replicas=[*self.removing],
            adding_replicas=[*self.adding],
            leader=self.leader,
            leader_recovery_state=RECOVERING if self.is_recovering else RECOVERED,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=[*self.directories],
            eligible_leader_replicas=[*self.elr] or None,
            last_known_elr=[*self.last_known_elr] or None,
        )

    def directory_of(self, broker: BrokerId) -> UUID:
        """Return the directory of a replica's log, or the id that stands for it (KIP-858)."""
        known = dict(zip(self.replicas, self.directories, strict=False))
        return known.get(broker, MIGRATING)

    @property
    def has_preferred_leader(self) -> bool:
        """True if the first replica leads."""
        return bool(self.replicas) and self.leader == self.replicas[0]

    @property
    def is_reassigned(self) -> bool:
        """True while replicas are added or removed."""
        return bool(self.removing or self.adding)


def ids_of(numbers: Sequence[int]) -> Ids:
    """Return the broker ids of a message's numbers."""
    return tuple(map(BrokerId, numbers))
