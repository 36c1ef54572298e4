"""A commit as the batch that Kafka appends to the groups' internal topic.

Source: class GroupCoordinatorRecordHelpers (newOffsetCommitRecord).
"""

from collections.abc import Mapping

from harness.codec.data_framing.coordinator_records import OFFSETS
from harness.codec.messages import OffsetCommitKey, OffsetCommitValue
from harness.codec.records import encode_rows
from harness.reference_broker.state.committed_offsets import CommittedOffset, Place

_VERSION, _VERSION_WITH_EXPIRY = 3, 1


def commit_batch(group_id: str, commits: Mapping[Place, CommittedOffset]) -> bytes:
    """One record a partition."""
    return encode_rows(
        [
            (committed.committed_at, _key(group_id, place), _value(committed))
            for place, committed in commits.items()
        ]
    )


def _key(group_id: str, place: Place) -> bytes:
    topic, partition = place
    return OFFSETS.key_bytes(OffsetCommitKey(group=group_id, topic=topic, partition=partition))


def _value(committed: CommittedOffset) -> bytes:
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.committed_at,
    )
    if committed.expires_at is None:
        return OFFSETS.value_bytes(value, _VERSION)
    value.expire_timestamp = committed.expires_at
    return OFFSETS.value_bytes(value, _VERSION_WITH_EXPIRY)
