"""Writes of the group coordinator to its internal topic, from which `group_loading` reads them.

Source: classes GroupCoordinatorRecordHelpers and, before 4.0, GroupMetadataManager. The coordinator
writes nothing as long as the topic does not exist; then there are no groups either. The code that
builds records is imported at the first use: it is large, and a broker without groups never needs
it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from struct import unpack
from typing import TYPE_CHECKING

from harness.base.ids import Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import Effect
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.log.append_error import AppendRefused

if TYPE_CHECKING:
    from harness.reference_broker.state.groups.committed_offset import Place
    from harness.reference_broker.state.groups.group import Group
    from harness.reference_broker.state.groups.group_records import Commits, Rows
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
    from harness.reference_broker.state.topics.topic import TopicState

_NEW_GROUPS_ARE_KEPT = (4, 0)  # the coordinator of KIP-848
_MOST_TOMBSTONES = 1_000
"""Limit for one batch: one removal may need more tombstones than fit into a batch."""


class GroupLog:
    """Appends to a group's partition; a caller acknowledges a change only if that has succeeded."""

    __slots__ = ("_effects", "_like", "_topic")

    def __init__(self, topic: Callable[[], TopicState | None], like: EmulatedRelease) -> None:
        self._topic, self._like = topic, like
        self._effects: list[Effect] = []

    def take_effects(self) -> list[Effect]:
        """Return and clear the effects of the appends since the last call."""
        taken, self._effects = self._effects, []
        return taken

    @property
    def groups_outlive_offsets(self) -> bool:
        """True if a group without members and offsets stays until it has expired: since 4.0."""
        return self._like.since(*_NEW_GROUPS_ARE_KEPT)

    def end_of_unshown(self, group_id: str) -> Offset | None:
        """Return the end of the group's partition; None where a new group is shown at once.

        Since 4.0 groups are read as they were at the last offset that was written
        (``TimelineHashMap``, ``CoordinatorRuntime.scheduleReadOperation``).
        """
        partition = self.partition_of(group_id)
        if partition is None or not self._like.since(*_NEW_GROUPS_ARE_KEPT):
            return None
        return partition.log.end_offset

    def is_replicated(self, group_id: str, end: Offset | None) -> bool:
        """True if all replicas in sync, and enough of them, have the group's records up to here.

        Also without a partition to wait for, or at another coordinator.
        """
        partition = self.partition_of(group_id)
        if partition is None or end is None or partition.leading is None:
            return True
        return partition.replicated(end) is ErrorCode.NONE

    def end_of(self, group_id: str) -> Offset | None:
        """Return the end of the group's partition, if there is one."""
        partition = self.partition_of(group_id)
        return None if partition is None else partition.log.end_offset

    def keeps_together(self, group_id: str, other_id: str) -> bool:
        """True if two groups are in one partition."""
        return self.partition_of(group_id) is self.partition_of(other_id)

    def keep_commits(self, group_id: str, commits: Commits, now: TimeMs) -> bool:
        """Write the offsets of one request, all or none; False if they are too many for a batch."""
        from harness.reference_broker.state.groups.group_records import commit_rows

        return self._append(group_id, commit_rows(group_id, commits, self._like, now), now)

    def keep_in_transaction(
        self, group_id: str, commits: Commits, producer: ProducerIdentity, now: TimeMs
    ) -> ErrorCode:
        """Write the offsets of one request as a part of a producer's transaction, all or none.

        The error is INVALID_PRODUCER_EPOCH for a producer that was fenced.
        """
        from harness.reference_broker.state.groups.group_records import commit_rows
        from harness.reference_broker.state.partition.coordinator_append import (
            append_in_transaction,
        )

        partition = self.partition_of(group_id)
        if partition is None or not commits:
            return ErrorCode.NONE
        try:
            rows = commit_rows(group_id, commits, self._like, now)
            appended = append_in_transaction(partition, rows, producer, now)
        except AppendRefused as refused:
            is_told = refused.error is ErrorCode.INVALID_PRODUCER_EPOCH
            return refused.error if is_told else ErrorCode.UNKNOWN_SERVER_ERROR
        self._effects += appended.effects
        return ErrorCode.NONE

    def refuses(self, group_id: str) -> bool:
        """True if too few replicas are in sync for a generation to be written, before 4.0.

        Source: class GroupMetadataManager (storeGroup). Since 4.0 it is written, and then waits.
        """
        partition = self.partition_of(group_id)
        if partition is None or partition.leading is None or self.groups_outlive_offsets:
            return False
        return len(partition.leading.isr) < partition.min_isr

    def keep_group(self, group: Group, parts: Mapping[str, bytes], now: TimeMs) -> bool:
        """Write the generation with its assignments; False if that is too large for a batch."""
        from harness.reference_broker.state.groups.group_records import group_row

        return self._append(group.group_id, [group_row(group, parts, self._like, now)], now)

    def keep_new_group(self, group: Group, now: TimeMs) -> None:
        """Write a group that a first join has created, since 4.0."""
        if self._like.since(*_NEW_GROUPS_ARE_KEPT):
            self.keep_group(group, {}, now)

    def forget_offsets(self, group_id: str, places: Collection[Place], now: TimeMs) -> None:
        """Write tombstones for offsets that were deleted or have expired."""
        if not places:
            return
        from harness.reference_broker.state.groups.group_records import forgotten_offset_rows

        rows = forgotten_offset_rows(group_id, places, now)
        for begin in range(0, len(rows), _MOST_TOMBSTONES):
            self._append(group_id, rows[begin : begin + _MOST_TOMBSTONES], now)

    def forget_group(self, group: Group, now: TimeMs) -> None:
        """Write a tombstone for a group; its offsets have theirs already.

        Before 4.0 a group that was never written gets none.
        """
        if group.generation > 0 or self._like.since(*_NEW_GROUPS_ARE_KEPT):
            from harness.reference_broker.state.groups.group_records import forgotten_group_row

            self._append(group.group_id, [forgotten_group_row(group.group_id, now)], now)

    def _append(self, group_id: str, rows: Rows, now: TimeMs) -> bool:
        partition = self.partition_of(group_id)
        if partition is None or not rows:
            return True
        from harness.codec.records import encode_rows

        try:
            appended = partition.append(encode_rows(rows), now)
        except AppendRefused:
            return False
        self._effects += appended.effects
        return True

    def partition_of(self, group_id: str) -> Partition | None:
        """Return the partition of a group's records; its leader coordinates the group.

        None if the internal topic does not exist.
        """
        topic = self._topic()
        if topic is None:
            return None
        return topic.partitions[java_hash(group_id) % len(topic.partitions)]


def java_hash(text: str) -> int:
    """Return ``String.hashCode`` without its sign, as ``Utils.abs`` does."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for unit in unpack(f">{len(units) // 2}H", units):
        value = (31 * value + unit) & 0xFFFFFFFF
    if value == 1 << 31:
        return 0
    return value if value < 1 << 31 else (1 << 32) - value
