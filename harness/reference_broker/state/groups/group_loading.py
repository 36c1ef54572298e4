"""Load of groups: a broker that becomes a coordinator reads a partition of the internal topic.

Source: class GroupCoordinatorShard (replay, onLoaded) and, before 4.0, GroupMetadataManager
(loadGroupsAndOffsets, removeGroupsForPartition).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.base.ids import (
    GroupId,
    LeaderEpoch,
    MemberId,
    Offset,
    PartitionIndex,
    ProducerId,
    TimeMs,
)
from harness.codec.data_framing.coordinator_records import OFFSETS
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from harness.codec.records import CONTROL, TRANSACTIONAL, BatchHeader
from harness.codec.records.any_format import read_records
from harness.reference_broker.effects import Effect, GroupMoved
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_member import Joined, Member, Protocol, Synced
from harness.reference_broker.state.groups.group_phases import prepare_rebalance, renew_session
from harness.reference_broker.state.groups.group_states import GroupEvent
from harness.reference_broker.state.groups.pending_offsets import PendingOffsets
from harness.reference_broker.state.log.batch_bytes import magic_of
from harness.reference_broker.state.log.stored_batch import MAGIC_OF_BATCHES, marker_of

if TYPE_CHECKING:
    from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets
    from harness.reference_broker.state.groups.group_log import GroupLog
    from harness.reference_broker.state.groups.groups import Groups
    from harness.reference_broker.state.partition.partition import Partition

_ANY_BYTES = 2**31 - 1
_NO_EXPIRY = -1


@dataclass(slots=True)
class _Found:
    """The last record of each group, and of each of its offsets.

    `committed` has the groups with a commit, in order, that no tombstone of the group follows.
    """

    offsets: dict[str, dict[Place, CommittedOffset]] = field(default_factory=dict)
    groups: dict[str, GroupMetadataValue] = field(default_factory=dict)
    committed: dict[str, None] = field(default_factory=dict)
    pending: PendingOffsets = field(default_factory=PendingOffsets)


def load_groups(
    groups: Groups, committed: CommittedOffsets, partition: Partition, now: TimeMs
) -> None:
    """Take over the groups that are stored in a partition; their members' sessions begin anew.

    If the log cannot be read, no group is loaded: the broker does not write to that log either.
    """
    try:
        found = _read(partition)
    except OSError:
        return
    for group_id, offsets in found.offsets.items():
        committed.restore(group_id, offsets)
    # Since 4.0 a commit makes its group when it is read, and only the group's own tombstone
    # removes it (OffsetMetadataManager.replay); before, a group without offsets is not made.
    made = found.committed if groups.log.groups_outlive_offsets else found.offsets
    for group_id in dict.fromkeys([*made, *found.pending.groups()]):
        groups.restore(Group(GroupId(group_id), now))
    committed.pending.adopt(found.pending)
    for group_id, value in found.groups.items():
        group = _group(group_id, value, now)
        groups.restore(group)
        for member in group.members.values():
            renew_session(groups, group, member, now)
        if len(group.members) > groups.limits.max_size:  # the setting was larger (KIP-389)
            prepare_rebalance(groups, group, now)


def unload_groups(
    groups: Groups, committed: CommittedOffsets, log: GroupLog, partition: Partition
) -> list[Effect]:
    """Drop the groups of a partition that another broker coordinates now.

    Members that wait for a response receive NOT_COORDINATOR.
    """
    refused = ErrorCode.NOT_COORDINATOR
    effects: list[Effect] = []
    for group in list(groups.all()):
        if log.partition_of(group.group_id) is not partition:
            continue
        for member in group.members.values():
            member.answer_join(Joined(refused, member.member_id))
            member.answer_sync(Synced(refused))
        groups.drop(group)
        committed.drop(group.group_id)
        effects.append(GroupMoved(group.group_id))
    return effects


def _read(partition: Partition) -> _Found:
    found = _Found()
    log = partition.log
    for batch in log.between(log.start_offset, log.end_offset):
        is_batch = magic_of(batch.data) >= MAGIC_OF_BATCHES
        header = BatchHeader.read(batch.data) if is_batch else None
        if header is not None and header.attributes & CONTROL:
            _replay_marker(found, batch.data, header)
            continue
        in_transaction = header is not None and bool(header.attributes & TRANSACTIONAL)
        producer_id = ProducerId(header.producer_id) if header and in_transaction else None
        for read in read_records(batch.data, limit_bytes=_ANY_BYTES).batches:
            for _, _, key, value in read.records.rows():
                if key is not None:
                    _replay(found, key, value, producer_id)
    return found


def _replay_marker(found: _Found, batch: bytes, header: BatchHeader) -> None:
    marker = marker_of(batch, header)
    if marker is None:
        return
    ended = found.pending.end(marker.producer_id, lambda _group_id: True, aborts=marker.aborts)
    for group_id, offsets in ended.items():
        for place, committed in offsets.items():
            _put(found, group_id, place, committed)


def _replay(
    found: _Found, key_bytes: bytes, value_bytes: bytes | None, producer_id: ProducerId | None
) -> None:
    key, _, value = OFFSETS.read_record(key_bytes, value_bytes)
    if isinstance(key, OffsetCommitKey):
        place = (key.topic, PartitionIndex(key.partition))
        committed = _committed(value) if isinstance(value, OffsetCommitValue) else None
        if committed is not None:
            found.committed[key.group] = None
        if producer_id is not None and committed is not None:
            found.pending.put(producer_id, key.group, [(place, committed)])
        else:
            if committed is None:
                found.pending.forget(lambda group, at: (group, at) == (key.group, place))
            found.pending.replaced(key.group, [place])
            _put(found, key.group, place, committed)
    elif isinstance(key, GroupMetadataKey):
        found.groups.pop(key.group, None)
        found.committed.pop(key.group, None)
        if isinstance(value, GroupMetadataValue):
            found.groups[key.group] = value


def _put(found: _Found, group_id: str, place: Place, committed: CommittedOffset | None) -> None:
    """Put an offset behind the others of its group, or remove it."""
    held = found.offsets.setdefault(group_id, {})
    held.pop(place, None)
    if committed is not None:
        held[place] = committed
    if not held:
        del found.offsets[group_id]


def _committed(value: OffsetCommitValue) -> CommittedOffset:
    expires_at = value.expire_timestamp
    return CommittedOffset(
        Offset(value.offset),
        LeaderEpoch(value.leader_epoch),
        value.metadata,
        TimeMs(value.commit_timestamp),
        None if expires_at == _NO_EXPIRY else TimeMs(expires_at),
        value.topic_id,
    )


def _group(group_id: str, value: GroupMetadataValue, now: TimeMs) -> Group:
    group = Group(GroupId(group_id), now)
    for told in value.members:
        group.add(
            Member(
                MemberId(told.member_id),
                told.group_instance_id,
                told.client_id,
                told.client_host,
                told.session_timeout,
                told.rebalance_timeout,
                value.protocol_type,
                (Protocol(value.protocol or "", told.subscription),),
                told.assignment,
            )
        )
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol_name = value.protocol
    group.leader_id = None if value.leader is None else MemberId(value.leader)
    group.note_subscriptions()
    group.apply(GroupEvent.LOADED_WITH_MEMBERS if value.members else GroupEvent.LOADED_EMPTY, now)
    group.state_since = TimeMs(value.current_state_timestamp)
    return group
