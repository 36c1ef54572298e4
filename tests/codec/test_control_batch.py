"""Control batches: transaction markers and what the metadata quorum writes."""

from __future__ import annotations

import pytest

from harness.codec.messages import message_class
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.codec.records.any_format import read_records
from harness.codec.records.control_batch import control_records
from harness.codec.records.errors import RecordsError
from harness.codec.records.log_batch import LogBatch


def batch_of(*records: tuple[bytes | None, bytes | None], attributes: int = CONTROL) -> LogBatch:
    made = [Record(value, key) for key, value in records]
    data = encode_batch(RecordBatch(made, attributes=attributes, producer_id=7))
    return read_records(data, limit_bytes=1000).batches[0]


def test_control_records_reads_commit_and_abort_markers() -> None:
    """Key: version 0, type 0 or 1. Value: version 0, the coordinator's epoch."""
    for type_, name in enumerate(("ABORT", "COMMIT")):
        key, value = b"\0\0\0" + bytes([type_]), b"\0\0\0\0\0\x05"
        (found,) = control_records(batch_of((key, value), attributes=CONTROL | TRANSACTIONAL))
        assert (found.type, found.name, found.version) == (type_, name, 0)
        assert found.message == message_class("EndTxnMarker")(coordinator_epoch=5)


def test_control_records_reads_several_quorum_records_in_one_batch() -> None:
    """LEADER_CHANGE: version, leader 3, no voters, no granting voters, no tags; KRAFT_VERSION 1."""
    leader = b"\0\0" + b"\0\0\0\3" + b"\1" + b"\1" + b"\0"
    version = b"\0\0" + b"\0\1" + b"\0"
    first, second = control_records(batch_of((b"\0\0\0\2", leader), (b"\0\0\0\5", version)))
    assert (first.name, second.name) == ("LEADER_CHANGE", "KRAFT_VERSION")
    assert first.message == message_class("LeaderChangeMessage")(version=0, leader_id=3)
    assert second.message == message_class("KRaftVersionRecord")(version=0, k_raft_version=1)


def test_control_records_returns_unknown_types_and_skips_data_batches() -> None:
    (found,) = control_records(batch_of((b"\0\0\0\x63", None)))
    assert (found.type, found.name, found.message) == (99, "UNKNOWN", None)
    assert control_records(batch_of((b"k", b"v"), attributes=0)) == []


def test_control_record_without_key_raises_records_error() -> None:
    with pytest.raises(RecordsError, match="record 1 has no key") as caught:
        control_records(batch_of((b"\0\0\0\0", b"\0\0\0\0\0\x05"), (None, b"")))
    assert caught.value.path == "records[1].key"
