"""The frame of metadata records."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.codec import DecodeError, EncodeError, UnsupportedVersionError
from harness.codec.data_framing import (
    CLUSTER_METADATA,
    METADATA_LOGS,
    REMOTE_LOG_METADATA,
    MetadataRecord,
    UnknownRecord,
)
from harness.codec.messages import (
    FenceBrokerRecord,
    PartitionRecord,
    TopicRecord,
    UnregisterControllerRecord,
    message_class,
    message_names,
)
from labs.data_vectors.data_vectors import vector

TOPIC_ID = UUID(int=1 << 64 | 2)
PREVIEW = "2.8.2"


def test_metadata_records_written_by_kafka_round_trip() -> None:
    wanted = {
        "TopicRecord": (0, TopicRecord(name="t", topic_id=TOPIC_ID)),
        "UnregisterControllerRecord": (0, UnregisterControllerRecord()),
        "PartitionRecord2": (
            2,
            PartitionRecord(
                partition_id=1,
                topic_id=TOPIC_ID,
                replicas=[1, 2],
                isr=[1],
                leader=1,
                leader_epoch=3,
                partition_epoch=4,
                directories=[UUID(int=5 << 64 | 6), UUID(int=7 << 64 | 8)],
                eligible_leader_replicas=[2],
            ),
        ),
    }
    for name, (version, message) in wanted.items():
        raw = vector(f"metadata.{name}")
        assert CLUSTER_METADATA.read(raw) == (version, message)
        assert CLUSTER_METADATA.write(message, version) == raw


def test_remote_log_record_round_trips_and_is_refused_as_cluster_record() -> None:
    raw = vector("remote.RemotePartitionDelete")
    found = REMOTE_LOG_METADATA.read(raw)
    assert isinstance(found, MetadataRecord)
    assert type(found.message).__name__ == "RemotePartitionDeleteMetadataRecord"
    assert found.message.remote_partition_delete_state == 0  # type: ignore[attr-defined]
    assert REMOTE_LOG_METADATA.write(found.message, 0) == raw
    with pytest.raises(DecodeError):
        CLUSTER_METADATA.read(raw)


@pytest.mark.parametrize(
    "name", ["TopicRecord", "PartitionRecord", "QuotaRecord", "PartitionChangeRecord"]
)
def test_preview_record_of_2_8_is_read_only_with_its_release(name: str) -> None:
    raw = vector(name, PREVIEW)
    with pytest.raises(DecodeError, match=r"frame version 0 is the preview .* release 2\.8"):
        CLUSTER_METADATA.read(raw)
    found = CLUSTER_METADATA.read(raw, release=PREVIEW)
    assert isinstance(found, MetadataRecord)
    assert type(found.message).__name__ == name
    assert CLUSTER_METADATA.write(found.message, 0, release=PREVIEW) == raw


def test_frame_version_1_is_refused_for_release_2_8() -> None:
    with pytest.raises(DecodeError, match="frame version 1, not 0"):
        CLUSTER_METADATA.read(vector("metadata.TopicRecord"), release="2.8.0")


@pytest.mark.parametrize("api_key", [13, 30, 32767])
def test_unknown_api_key_is_returned_as_unknown_record(api_key: int) -> None:
    varint = bytes([api_key]) if api_key < 128 else b"\xff\xff\x01"
    raw = b"\1" + varint + b"\0rest"
    assert CLUSTER_METADATA.read(raw) == UnknownRecord(api_key, raw)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "frame_version at byte 0: the bytes end inside"),
        (b"\2\2\0", "frame_version at byte 0: frame version 2, not 1"),
        (b"\1", "api_key at byte 1: the bytes end inside"),
        (b"\1\x80\x80\x02", "api_key at byte 1: 32768 is above 32767"),
        (b"\1\2\x80\x80\x80\x80\x80\0", "version at byte 2: varint longer than 5 bytes"),
        (b"\1\2\0\2t", "TopicRecord v0: topic_id at byte 5"),
        (vector("metadata.TopicRecord") + b"\0", "1 bytes left over"),
    ],
)
def test_malformed_frame_raises_decode_error(raw: bytes, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        CLUSTER_METADATA.read(raw)
    assert said in str(caught.value)


def test_unknown_version_raises_unsupported_version_error() -> None:
    with pytest.raises(UnsupportedVersionError, match="TopicRecord has versions 0, not 1"):
        CLUSTER_METADATA.read(b"\1\2\1")
    with pytest.raises(UnsupportedVersionError):
        CLUSTER_METADATA.write(FenceBrokerRecord(), 1)


def test_record_of_other_topic_raises_encode_error() -> None:
    with pytest.raises(EncodeError, match="TopicRecord is no record of __remote_log_metadata"):
        REMOTE_LOG_METADATA.write(TopicRecord(), 0)


def test_record_key_tables_match_definitions() -> None:
    keys = {
        name: message_class(name).message_spec.api_key
        for name in message_names()
        if message_class(name).message_spec.type == "metadata"
    }
    listed = {name: key for log in METADATA_LOGS.values() for key, name in log.records.items()}
    assert keys == {**listed, "QuotaRecord": 14}
