"""Groups and their offsets as the records of the groups' internal topic.

The version of each value is that of the emulated release. Source: classes
GroupCoordinatorRecordHelpers and, before 4.0, GroupMetadataManager.
"""

from collections.abc import Collection, Mapping, Sequence

from harness.base.ids import TimeMs
from harness.codec.data_framing.coordinator_records import OFFSETS
from harness.codec.messages import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.group import Group

Row = tuple[int, bytes, bytes | None]
"""Time, key, value; no value is a tombstone."""
Rows = Sequence[Row]
Commits = Sequence[tuple[Place, CommittedOffset]]
"""In the order of a request, which may name a partition twice."""

_ByRelease = Mapping[tuple[int, ...], int]
"""A version of a value by the first release that writes it."""

_OFFSET_VERSIONS: _ByRelease = {(4, 1): 4, (2, 1): 3, (0, 9): 1}
_OFFSET_VERSION_WITH_EXPIRY = 1
_GROUP_VERSIONS: _ByRelease = {(2, 3): 3, (2, 1): 2, (0, 10, 1): 1, (0, 9): 0}


def commit_rows(group_id: str, commits: Commits, like: EmulatedRelease, now: TimeMs) -> Rows:
    """Return one record for each partition."""
    return [
        (now, _offset_key(group_id, place), _offset_value(committed, like))
        for place, committed in commits
    ]


def forgotten_offset_rows(group_id: str, places: Collection[Place], now: TimeMs) -> Rows:
    """Return one tombstone for each partition."""
    return [(now, _offset_key(group_id, place), None) for place in places]


def group_row(group: Group, parts: Mapping[str, bytes], like: EmulatedRelease, now: TimeMs) -> Row:
    """Return the record of the current generation; ``parts`` are the members' assignments."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=group.state_since,
        members=[
            GroupMetadataValue.MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=parts.get(member.member_id, b""),
            )
            for member in group.members.values()
        ],
    )
    version = _version(_GROUP_VERSIONS, like)
    return now, _group_key(group.group_id), OFFSETS.value_bytes(value, version)


def forgotten_group_row(group_id: str, now: TimeMs) -> Row:
    """Return a tombstone for the group."""
    return now, _group_key(group_id), None


def _group_key(group_id: str) -> bytes:
    return OFFSETS.key_bytes(GroupMetadataKey(group=group_id))


def _offset_key(group_id: str, place: Place) -> bytes:
    topic, partition = place
    return OFFSETS.key_bytes(OffsetCommitKey(group=group_id, topic=topic, partition=partition))


def _offset_value(committed: CommittedOffset, like: EmulatedRelease) -> bytes:
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.committed_at,
        topic_id=committed.topic_id,
    )
    if committed.expires_at is None:
        return OFFSETS.value_bytes(value, _version(_OFFSET_VERSIONS, like))
    value.expire_timestamp = committed.expires_at
    return OFFSETS.value_bytes(value, _OFFSET_VERSION_WITH_EXPIRY)


def _version(by_release: _ByRelease, like: EmulatedRelease) -> int:
    return next(version for first, version in by_release.items() if like.since(*first))
