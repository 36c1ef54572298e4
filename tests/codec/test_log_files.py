"""Files beside the log."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from harness.codec import DecodeError
from harness.codec.data_framing import (
    producer_snapshot_bytes,
    quorum_state_text,
    read_producer_snapshot,
    read_quorum_state,
    read_transaction_index,
    transaction_index_bytes,
)
from harness.codec.messages import AbortedTxn, ProducerSnapshot, QuorumStateData
from labs.data_vectors.data_vectors import vector, vector_text

RELEASE = "3.9.2"


def test_transaction_index_round_trips() -> None:
    raw = vector("txnindex", RELEASE)
    wanted = [
        AbortedTxn(producer_id=1, first_offset=2, last_offset=3, last_stable_offset=4),
        AbortedTxn(producer_id=5, first_offset=6, last_offset=7, last_stable_offset=8),
    ]
    assert read_transaction_index(raw) == wanted
    assert transaction_index_bytes(wanted) == raw
    assert read_transaction_index(b"") == []


@pytest.mark.parametrize("left", [1, 2, 33])
def test_truncated_transaction_index_raises_decode_error(left: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_transaction_index(vector("txnindex", RELEASE)[: 34 + left])
    assert caught.value.message == "AbortedTxn"
    assert caught.value.path.startswith("[1].")
    assert 34 <= caught.value.offset <= 34 + left


def test_producer_snapshot_round_trips() -> None:
    raw = vector("snapshot", RELEASE)
    entry = ProducerSnapshot.ProducerEntry(
        producer_id=11,
        epoch=1,
        last_sequence=4,
        last_offset=14,
        offset_delta=4,
        timestamp=1000,
        coordinator_epoch=-1,
        current_txn_first_offset=10,
    )
    found = read_producer_snapshot(raw)
    assert found.producer_entries == [entry]
    assert producer_snapshot_bytes(found) == raw
    assert producer_snapshot_bytes(ProducerSnapshot(producer_entries=[entry])) == raw


@pytest.mark.parametrize(
    ("start", "stop", "new", "path", "offset"),
    [
        (-1, None, b"?", "crc", 2),
        (0, 2, b"\0\2", "version", 0),
        (-1, None, b"", "producer_entries", 6),
        (6, 10, b"\0\0\0\0", "", 10),
        (1, None, b"", "version", 0),
    ],
)
def test_damaged_producer_snapshot_raises_decode_error(
    start: int, stop: int | None, new: bytes, path: str, offset: int
) -> None:
    raw = bytearray(vector("snapshot", RELEASE))
    raw[start:stop] = new
    with pytest.raises(DecodeError) as caught:
        read_producer_snapshot(bytes(raw))
    assert (caught.value.message, caught.value.path) == ("ProducerSnapshot", path)
    assert caught.value.offset == offset


QUORUM_STATES = {
    0: QuorumStateData(
        leader_id=1,
        leader_epoch=5,
        current_voters=[QuorumStateData.Voter(voter_id=2), QuorumStateData.Voter(voter_id=1)],
    ),
    1: QuorumStateData(leader_epoch=5, voted_id=2, voted_directory_id=UUID(int=1 << 64 | 2)),
}


@pytest.mark.parametrize("version", QUORUM_STATES)
def test_quorum_state_round_trips(version: int) -> None:
    text = vector_text(f"quorum{version}")
    assert read_quorum_state(text) == (version, QUORUM_STATES[version])
    assert quorum_state_text(QUORUM_STATES[version], version) == text


def test_quorum_state_without_voters_round_trips() -> None:
    text = quorum_state_text(QuorumStateData(current_voters=None), 0)
    assert '"currentVoters":null' in text
    assert read_quorum_state(text).message.current_voters is None


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"data_version": ...}, "data_version"),
        ({"data_version": 2}, "data_version"),
        ({"data_version": "1"}, "data_version"),
        ({"data_version": True}, "data_version"),
        ({"leaderId": ...}, "leader_id"),
        ({"leaderId": "1"}, "leader_id"),
        ({"leaderId": None}, "leader_id"),
        ({"leaderId": 2**31}, "leader_id"),
        ({"leaderEpoch": True}, "leader_epoch"),
        ({"votedDirectoryId": "?"}, "voted_directory_id"),
        ({"votedDirectoryId": "AAAA"}, "voted_directory_id"),
        ({"votedDirectoryId": "é"}, "voted_directory_id"),
        ({"data_version": 0}, "cluster_id"),
        (
            {"data_version": 0, "clusterId": "", "appliedOffset": 0, "currentVoters": [{}]},
            "current_voters[0].voter_id",
        ),
        (
            {"data_version": 0, "clusterId": "", "appliedOffset": 0, "currentVoters": [1]},
            "current_voters[0]",
        ),
    ],
)
def test_malformed_quorum_state_raises_decode_error_with_path(
    changes: dict[str, object], path: str
) -> None:
    found = {**json.loads(vector_text("quorum1")), **changes}
    text = json.dumps({name: value for name, value in found.items() if value is not ...})
    with pytest.raises(DecodeError) as caught:
        read_quorum_state(text)
    assert (caught.value.message, caught.value.path) == ("QuorumStateData", path)


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "null"])
def test_quorum_state_that_is_not_json_object_raises_decode_error(text: str) -> None:
    with pytest.raises(DecodeError, match="QuorumStateData"):
        read_quorum_state(text)
