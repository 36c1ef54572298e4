"""Records in the tree of a message: batches, records, and what is damaged or cut."""

from __future__ import annotations

from harness.codec import encode
from harness.codec.data_framing import control_record_key, control_record_value
from harness.codec.messages import FetchResponse, FetchSnapshotResponse, message_class
from harness.codec.records import (
    CONTROL,
    DELETE_HORIZON,
    TRANSACTIONAL,
    Header,
    LegacyMessage,
    Record,
    RecordBatch,
    encode_batch,
    encode_message_set,
)
from harness.codec.records.value_form import records_value
from harness.codec.records_text import records_lines
from harness.codec.trace import trace
from harness.codec.trace_text import trace_lines

RECORDS = [
    Record(value=b"x" * 61, key=b"k", headers=[Header("h", b"\1"), Header("n")]),
    Record(value=None, timestamp_delta=5),
]
BATCH = encode_batch(
    RecordBatch(records=RECORDS, base_offset=7, base_timestamp=1000, partition_leader_epoch=2)
)
OLD = encode_message_set([LegacyMessage(value=b"a", offset=12, magic=1, timestamp=3)] * 2, "gzip")


def _lines(data: bytes) -> list[str]:
    return [" ".join(line.split()) for line in records_lines(data, 0, len(data), 0)]


def test_text_of_batch_shows_header_and_records() -> None:
    batch, first, second = _lines(BATCH)
    told = (
        "batch magic 2, base_offset 7, 2 records, none, CreateTime, attributes 0x0, "
        "last_offset_delta 1, partition_leader_epoch 2, producer_id -1, producer_epoch -1, "
        "base_sequence -1, base_timestamp 1000, max_timestamp 1005"
    )
    assert batch == f"0 {BATCH[:10].hex()}.. {told}"
    value = '"' + "x" * 60 + '".. (61 bytes)'
    headers = "header 'h' 01, header 'n' null"
    assert first == f'record 7, timestamp 1000, key "k", value {value}, {headers}'
    assert second == "record 8, timestamp 1005, key null, value null"


def test_text_of_batch_names_attributes() -> None:
    batch = RecordBatch(
        records=[Record(key=b"\0\0\0\1", value=b"\xff" * 21)],
        attributes=TRANSACTIONAL | CONTROL | DELETE_HORIZON | 0x80,
        base_timestamp=99,
        producer_id=5,
        producer_epoch=1,
        base_sequence=3,
    )
    first, second = _lines(encode_batch(batch))
    assert "transactional, control, delete_horizon_ms 99, unused attributes 0x80" in first
    assert "attributes 0xf0, last_offset_delta 0, partition_leader_epoch -1, " in first
    assert "producer_id 5, producer_epoch 1, base_sequence 3, base_timestamp 99" in first
    told = f"record 0, timestamp 99, key 00000001, value {'ff' * 20}.. (21 bytes), "
    assert second.startswith(told)


def test_text_of_batch_has_every_number_of_the_json_form() -> None:
    compacted = RecordBatch(
        records=RECORDS,
        base_offset=40,
        last_offset_delta=9,
        partition_leader_epoch=6,
        producer_id=1 << 40,
        producer_epoch=11,
        base_sequence=13,
        base_timestamp=77,
    )
    for data in (encode_batch(compacted, "gzip"), OLD):
        (form,) = records_value(data)
        first = _lines(data)[0]
        numbers = {name: value for name, value in form.items() if isinstance(value, int)}
        assert len(numbers) == 9
        for name, value in numbers.items():
            assert f"{name} {value}" in first


def test_text_of_control_records_names_their_types() -> None:
    marker = message_class("EndTxnMarker")(coordinator_epoch=3)
    records = [
        Record(key=control_record_key(1), value=control_record_value(marker)),
        Record(key=b"\0\0\0\x63", value=b""),
        Record(),
    ]
    _, commit, unknown, bad = _lines(
        encode_batch(RecordBatch(records=records, attributes=TRANSACTIONAL | CONTROL))
    )
    assert commit.endswith("value 000000000003, COMMIT EndTxnMarker(coordinator_epoch=3)")
    assert unknown.endswith("control type 99, not known")
    assert "not a control record: ControlRecordTypeSchema" in bad


def test_text_marks_damaged_and_truncated_batches_at_their_positions() -> None:
    damaged = bytearray(BATCH)
    damaged[-1] ^= 1
    said = _lines(bytes(damaged) + OLD + BATCH[:30])
    assert said[0].startswith(f"0 {BATCH[:10].hex()}.. batch not readable: ")
    assert "checksum" in said[0]
    at = len(BATCH)
    told = (
        "batch magic 1, base_offset 12, 2 records, gzip, CreateTime, attributes 0x1, "
        "last_offset_delta 0, partition_leader_epoch -1, "
    )
    assert said[1].startswith(f"{at} {OLD[:10].hex()}.. {told}")
    assert said[2:4] == ['record 12, timestamp 3, key null, value "a"'] * 2
    assert said[-1].startswith(f"{at + len(OLD)} ")
    assert said[-1].endswith("the first 30 bytes of a batch that is cut")


def test_text_of_empty_records_is_empty() -> None:
    assert _lines(b"") == []


def test_trace_shows_batches_below_records_field() -> None:
    partition = FetchResponse.PartitionData(records=BATCH)
    topic = FetchResponse.FetchableTopicResponse(topic="t", partitions=[partition])
    data = encode(FetchResponse(responses=[topic]), 11)
    lines = list(trace_lines(trace(FetchResponse, 11, data).root, data))
    (index,) = [n for n, line in enumerate(lines) if "records records" in line]
    assert f"records records = {len(BATCH)} bytes" in lines[index]
    assert lines[index + 1].split()[0] == str(int(lines[index].split()[0]) + 4)
    assert "batch magic 2, base_offset 7" in lines[index + 1]
    assert "record 8" in lines[index + 3]


def test_trace_of_unaligned_records_shows_no_batches() -> None:
    partition = FetchSnapshotResponse.PartitionSnapshot(unaligned_records=BATCH)
    topic = FetchSnapshotResponse.TopicSnapshot(name="t", partitions=[partition])
    data = encode(FetchSnapshotResponse(topics=[topic]), 0)
    lines = list(trace_lines(trace(FetchSnapshotResponse, 0, data).root, data))
    assert any("unaligned_records records" in line for line in lines)
    assert not any("batch" in line for line in lines)
