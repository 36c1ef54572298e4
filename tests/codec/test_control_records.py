"""Records of control batches."""

from __future__ import annotations

import pytest

from harness.codec import DecodeError
from harness.codec.data_framing import (
    CONTROL_TYPES,
    control_record_key,
    control_record_value,
    control_types,
    read_control_record,
)
from harness.codec.messages import (
    EndTxnMarker,
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
)
from harness.codec.structs import Message
from labs.data_vectors.data_vectors import vector

RELEASE = "3.9.2"
Voter = LeaderChangeMessage.Voter
MESSAGES: dict[str, Message] = {
    "ABORT": EndTxnMarker(coordinator_epoch=8),
    "COMMIT": EndTxnMarker(coordinator_epoch=7),
    "LEADER_CHANGE": LeaderChangeMessage(
        leader_id=1,
        voters=[Voter(voter_id=1), Voter(voter_id=2)],
        granting_voters=[Voter(voter_id=1)],
    ),
    "SNAPSHOT_HEADER": SnapshotHeaderRecord(last_contained_log_timestamp=99),
    "SNAPSHOT_FOOTER": SnapshotFooterRecord(),
    "KRAFT_VERSION": KRaftVersionRecord(k_raft_version=1),
}


@pytest.mark.parametrize("type_", CONTROL_TYPES)
def test_control_record_written_by_kafka_round_trips(type_: int) -> None:
    name = CONTROL_TYPES[type_][0]
    key, value = vector(f"{name}.key", RELEASE), vector(f"{name}.value", RELEASE)
    record = read_control_record(key, value)
    assert (record.type, record.name, record.version) == (type_, name, 0)
    assert record.message is not None
    assert record.message == MESSAGES.get(name, record.message)
    assert type(record.message).__name__ == CONTROL_TYPES[type_][1]
    assert control_record_key(type_) == key
    assert control_record_value(record.message) == value


def test_kraft_voters_record_contains_voter_and_its_version() -> None:
    raw = (vector("KRAFT_VOTERS.key", RELEASE), vector("KRAFT_VOTERS.value", RELEASE))
    (voter,) = read_control_record(*raw).message.voters  # type: ignore[union-attr]
    assert (voter.voter_id, voter.k_raft_version_feature.max_supported_version) == (1, 1)


@pytest.mark.parametrize(("release", "granting"), [("2.7.2", False), ("2.8.2", True)])
def test_leader_change_before_3_0_has_type_3_and_no_version(release: str, granting: bool) -> None:
    """Its type was 3, and it did not say its version."""
    key, value = vector("LEADER_CHANGE.key", release), vector("LEADER_CHANGE.value", release)
    record = read_control_record(key, value, release)
    assert (record.type, record.name, record.version) == (3, "LEADER_CHANGE", 0)
    assert record.message is not None
    assert record.message.leader_id == 1  # type: ignore[attr-defined]
    assert hasattr(record.message, "granting_voters") == granting
    assert control_record_value(record.message) == value
    assert read_control_record(control_record_key(2), b"?", release).name == "UNKNOWN"
    assert control_types(release)[3] == control_types()[2]


def test_unknown_control_type_is_returned_as_unknown() -> None:
    assert read_control_record(b"\0\0\0\x07", b"?") == (7, "UNKNOWN", -1, None)
    assert read_control_record(b"\0\0\xff\xff", None) == (-1, "UNKNOWN", -1, None)


def test_newer_control_record_is_read_as_newest_known_version() -> None:
    key, value = vector("COMMIT.key", RELEASE), vector("COMMIT.value", RELEASE)
    newer = read_control_record(b"\0\5" + key[2:] + b"more", b"\0\6" + value[2:] + b"more")
    assert newer == (1, "COMMIT", 6, MESSAGES["COMMIT"])
    footer = read_control_record(control_record_key(4), b"\0\3\0and more")
    assert footer.version == 3
    assert footer.message == SnapshotFooterRecord(version=3)


def test_leader_change_version_1_round_trips() -> None:
    message = LeaderChangeMessage(version=1, leader_id=1, voters=[Voter(voter_id=1)])
    value = control_record_value(message, 1)
    assert read_control_record(control_record_key(2), value) == (2, "LEADER_CHANGE", 1, message)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (b"", b"", "ControlRecordTypeSchema v-1: version at byte 0"),
        (b"\0\0\0", b"", "ControlRecordTypeSchema v0: type at byte 2"),
        (b"\xff\xff\0\0", b"", "version -1 is negative"),
        (b"\0\0\0\1", None, "a control record of type COMMIT has a value"),
        (b"\0\0\0\1", b"\0\0\0", "EndTxnMarker v0: coordinator_epoch at byte 2"),
        (b"\0\0\0\1", b"\0\0\0\0\0\7?", "1 bytes left over"),
        (b"\0\0\0\2", b"\xff\xff", "version -1 is negative"),
        (b"\0\0\0\2", b"\0\0\0", "LeaderChangeMessage v0: leader_id at byte 2"),
    ],
)
def test_malformed_control_record_raises_decode_error(
    key: bytes, value: bytes | None, said: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read_control_record(key, value)
    assert said in str(caught.value)
