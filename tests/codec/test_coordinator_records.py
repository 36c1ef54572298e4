"""The records that coordinators keep in their topics."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from harness.codec import DecodeError, EncodeError, UnsupportedVersionError
from harness.codec.data_framing import (
    COORDINATOR_LOGS,
    OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    CoordinatorLog,
    UnknownRecord,
)
from harness.codec.messages import (
    ConsumerGroupMemberMetadataKey,
    GroupMetadataKey,
    OffsetCommitKey,
    OffsetCommitValue,
    ShareSnapshotValue,
    TransactionLogKey,
    TransactionLogValue,
    message_class,
    message_names,
)
from harness.codec.structs import Message
from labs.data_vectors.data_vectors import vector, vector_names
from labs.message_values.values import outcome

TOPIC_ID = UUID(int=1 << 64 | 2)
PAIRS = [
    name.removesuffix(".key")
    for name in vector_names("4.4.0")
    if name.endswith(".key") and not name.startswith("TransactionLog")
]


def log_of(name: str) -> CoordinatorLog:
    return SHARE_GROUP_STATE if name in ("ShareSnapshot", "ShareUpdate") else OFFSETS


@pytest.mark.parametrize("name", PAIRS)
def test_coordinator_record_written_by_kafka_round_trips(name: str) -> None:
    log, raw_key, raw_value = log_of(name), vector(f"{name}.key"), vector(f"{name}.value")
    record = log.read_record(raw_key, raw_value)
    assert isinstance(record.key, Message)
    assert type(record.key).__name__ == f"{name.rstrip('01234')}Key"
    assert type(record.value).__name__ == f"{name.rstrip('01234')}Value"
    assert record.value is not None
    assert log.key_bytes(record.key) == raw_key
    assert log.value_bytes(record.value, record.value_version) == raw_value
    assert log.read_record(raw_key, None) == (record.key, -1, None)


def test_vectors_contain_18_coordinator_records() -> None:
    assert len(PAIRS) == 18


def test_offset_commit_and_share_snapshot_are_decoded_to_known_values() -> None:
    key, version, value = OFFSETS.read_record(
        vector("OffsetCommit3.key"), vector("OffsetCommit3.value")
    )
    assert key == OffsetCommitKey(group="g", topic="t", partition=1)
    assert version == 3
    assert value == OffsetCommitValue(offset=5, leader_epoch=2, metadata="m", commit_timestamp=6)
    _, _, share = SHARE_GROUP_STATE.read_record(
        vector("ShareSnapshot.key"), vector("ShareSnapshot.value")
    )
    assert share == ShareSnapshotValue(
        snapshot_epoch=1,
        state_epoch=2,
        leader_epoch=3,
        start_offset=4,
        create_timestamp=5,
        write_timestamp=6,
    )


def test_transaction_log_values_round_trip_at_both_versions() -> None:
    key = TRANSACTION_STATE.read_key(vector("TransactionLog.key"))
    assert key == TransactionLogKey(transactional_id="tx")
    assert isinstance(key, Message)
    for version in (0, 1):
        raw = vector(f"TransactionLog{version}.value")
        found, value = TRANSACTION_STATE.read_value(key, raw)
        assert found == version
        assert isinstance(value, TransactionLogValue)
        assert value.next_producer_epoch == (1 if version else -1)
        assert TRANSACTION_STATE.value_bytes(value, version) == raw


BY_HAND = "2.4.1"  # before Kafka had definitions of these
WRITTEN_BY_HAND: dict[str, tuple[CoordinatorLog, str, int, Message]] = {
    "OffsetCommit1": (
        OFFSETS,
        "OffsetCommit",
        1,
        OffsetCommitValue(offset=5, metadata="m", commit_timestamp=6, expire_timestamp=7),
    ),
    "OffsetCommit1never": (
        OFFSETS,
        "OffsetCommit",
        1,
        OffsetCommitValue(offset=5, metadata="m", commit_timestamp=6),
    ),
    "OffsetCommit3": (
        OFFSETS,
        "OffsetCommit",
        3,
        OffsetCommitValue(offset=5, leader_epoch=2, metadata="m", commit_timestamp=6),
    ),
    "TransactionLog0": (
        TRANSACTION_STATE,
        "TransactionLog",
        0,
        TransactionLogValue(
            producer_id=1,
            producer_epoch=2,
            transaction_timeout_ms=3,
            transaction_status=1,
            transaction_partitions=[
                TransactionLogValue.PartitionsSchema(topic="t", partition_ids=[0])
            ],
            transaction_last_update_timestamp_ms=4,
            transaction_start_timestamp_ms=5,
        ),
    ),
}


@pytest.mark.parametrize("name", WRITTEN_BY_HAND)
def test_values_written_by_release_without_definitions_round_trip(name: str) -> None:
    log, key, version, wanted = WRITTEN_BY_HAND[name]
    raw = vector(f"{name}.value", BY_HAND)
    found = log.read_record(vector(f"{key}.key", BY_HAND), raw, release=BY_HAND)
    assert (found.value_version, repr(found.value)) == (version, repr(wanted))
    assert log.value_bytes(wanted, version) == raw


def test_older_release_keeps_newer_tags_of_transaction_log_as_unknown() -> None:
    """Of 4.4 the tags are unknown to 3.9, and kept."""
    key = TRANSACTION_STATE.read_key(vector("TransactionLog.key"))
    assert isinstance(key, Message)
    raw = vector("TransactionLog1.value")
    version, value = TRANSACTION_STATE.read_value(key, raw, release="3.9.2")
    assert value is not None
    assert sorted(value.unknown_tagged_fields) == [1, 2, 3]
    assert TRANSACTION_STATE.value_bytes(value, version) == raw
    old = vector("TransactionLog1.value", "3.9.2")
    assert TRANSACTION_STATE.read_value(key, old, release="3.9.2")[0] == 1


def test_consumer_group_record_of_3_5_is_read_only_with_its_release() -> None:
    key, value = (vector(f"ConsumerGroupMemberMetadata.{one}", "3.5.2") for one in ("key", "value"))
    record = OFFSETS.read_record(key, value, release="3.5.2")
    assert record.key == ConsumerGroupMemberMetadataKey(group_id="g", member_id="m")
    assert isinstance(record.key, Message)
    assert record.value is not None
    assert record.value.group_epoch == 3  # type: ignore[attr-defined]
    assert OFFSETS.key_bytes(record.key) == key
    assert OFFSETS.value_bytes(record.value, 0) == value
    assert isinstance(outcome(lambda: OFFSETS.read_record(key, value), DecodeError), DecodeError)


def test_retired_share_group_record_type_round_trips() -> None:
    name = "ShareGroupPartitionMetadata"
    key, value = (vector(f"{name}.{one}", "3.9.2") for one in ("key", "value"))
    record = OFFSETS.read_record(key, value, release="3.9.2")
    assert isinstance(record.key, Message)
    assert record.value is not None
    (topic,) = record.value.initialized_topics  # type: ignore[attr-defined]
    assert (topic.topic_id, topic.topic_name, topic.partitions) == (TOPIC_ID, "t", [3])
    assert OFFSETS.key_bytes(record.key) == key
    assert OFFSETS.value_bytes(record.value, 0) == value


@pytest.mark.parametrize("id_", [18, 24, 32767])
def test_unknown_record_id_is_returned_as_unknown_record(id_: int) -> None:
    key = id_.to_bytes(2, "big") + b"who knows"
    assert OFFSETS.read_key(key) == UnknownRecord(id_, key)
    assert OFFSETS.read_record(key, b"\0\0whatever") == (UnknownRecord(id_, key), -1, None)


def test_legacy_offset_commit_key_accepts_version_1_value() -> None:
    key = OFFSETS.read_key(vector("LegacyOffsetCommit.key"))
    assert isinstance(key, Message)
    version, value = OFFSETS.read_value(key, vector("OffsetCommit1.value"))
    assert (version, type(value).__name__) == (1, "OffsetCommitValue")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: OFFSETS.read_key(b"\0"), "key in __consumer_offsets v-1: version at byte 0: 2 by"),
        (lambda: OFFSETS.read_key(b"\xff\xfe"), "version -2 is negative"),
        (lambda: OFFSETS.read_key(b"\0\2\0\5abc"), "GroupMetadataKey v0: group at byte 2: "),
        (lambda: OFFSETS.read_key(b"\0\2\0\1ab"), "1 bytes left over"),
    ],
)
def test_malformed_coordinator_key_raises_decode_error(
    call: Callable[[], object], said: str
) -> None:
    assert said in str(outcome(call, DecodeError))


def test_value_of_unknown_version_raises_unsupported_version_error() -> None:
    with pytest.raises(
        UnsupportedVersionError, match=r"GroupMetadataValue has versions 0-4, not 5"
    ):
        OFFSETS.read_value(GroupMetadataKey(group="g"), b"\0\5")
    with pytest.raises(DecodeError, match="GroupMetadataValue v-1: version at byte 0"):
        OFFSETS.read_value(GroupMetadataKey(group="g"), b"")


def test_key_of_another_topic_raises_encode_error() -> None:
    with pytest.raises(EncodeError, match="TransactionLogKey is no key in __consumer_offsets"):
        OFFSETS.key_bytes(TransactionLogKey())
    with pytest.raises(EncodeError, match="no key in __transaction_state"):
        TRANSACTION_STATE.read_value(GroupMetadataKey(), b"\0\0")


def test_record_id_tables_match_definitions() -> None:
    """Keys and values carry their id as API key since 4.1."""
    ids: dict[str, int] = {}
    for name in message_names():
        spec = message_class(name).message_spec
        if spec.type in ("coordinator-key", "coordinator-value"):
            assert spec.api_key is not None
            ids[name] = spec.api_key
    listed = {
        f"{name}{end}": id_
        for log in COORDINATOR_LOGS.values()
        for id_, name in log.records.items()
        for end in ("Key", "Value")
    }
    retired = {"ShareGroupPartitionMetadataKey", "ShareGroupPartitionMetadataValue"}
    assert ids == {name: id_ for name, id_ in listed.items() if name not in retired}
    assert retired <= set(listed)


def test_key_definitions_of_4_0_have_record_id_as_version() -> None:
    for id_, name in OFFSETS.records.items():
        older = message_class(f"{name}Key", "4.0").message_spec
        assert id_ in older.valid or older.type == "coordinator-key", name
