"""One reader for all record formats: the records, the reports, the place of its stop."""

from __future__ import annotations

import struct
from dataclasses import replace

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.records import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Header,
    LegacyMessage,
    Record,
    RecordBatch,
    encode_batch,
    encode_batch_around,
    encode_message,
    encode_message_set,
)
from harness.codec.records.any_format import RecordsReading, read_records
from harness.codec.records.compression import CODEC_IDS, LimitError, compress
from harness.codec.records.log_records import LogRecord
from harness.codec.records.message_set import wrapper_of
from labs.message_values.values import QUICK
from tests.codec.test_walk import RECORDS

pytestmark = pytest.mark.rotates(8)

LIMIT = 1 << 24
TWO = [Record(b"one", b"k", [Header("h", b"x")], 5), Record(None, None, (), 7)]
MESSAGES = [
    LegacyMessage(b"a", b"k", 11, 40),
    LegacyMessage(None, None, 12, 41),
    LegacyMessage(b"c", None, 13, 42),
]


def read(data: bytes, limit_bytes: int = LIMIT) -> RecordsReading:
    return read_records(data, limit_bytes=limit_bytes)


def seen(reading: RecordsReading) -> list[tuple[int, int, str, bytes | None, bytes | None]]:
    return [
        (record.offset, record.timestamp, record.timestamp_type, record.key, record.value)
        for batch in reading.batches
        for record in batch.records
    ]


MANY = [
    encode_batch(RecordBatch([Record(b"x")] * 9), "gzip"),
    encode_message(wrapper_of([LegacyMessage(b"x", offset=at) for at in range(9)], "gzip")),
]


@pytest.mark.parametrize("nine", MANY, ids=["batch", "message set"])
def test_record_limit_stops_reading_with_limit_error(nine: bytes) -> None:
    reading = read_records(nine * 3, limit_bytes=1 << 20, limit_records=18)
    assert len(reading.batches) == 2
    (problem,) = reading.problems
    assert isinstance(problem.error, LimitError)
    assert (problem.position, reading.unread_bytes) == (2 * len(nine), len(nine))
    assert "9 records where 0 more may be read" in str(problem)


@pytest.mark.parametrize("codec", CODEC_IDS)
def test_read_records_returns_every_field_of_batch(codec: str) -> None:
    data = encode_batch(
        RecordBatch(
            TWO,
            base_offset=100,
            partition_leader_epoch=4,
            attributes=TRANSACTIONAL | 0x4080,
            base_timestamp=1000,
            producer_id=9,
            producer_epoch=2,
            base_sequence=30,
            last_offset_delta=6,
        ),
        codec,
    )
    (batch,) = read(data).batches
    assert (batch.magic, batch.position, batch.size_bytes) == (2, 0, len(data))
    assert (batch.base_offset, batch.last_offset_delta, batch.last_offset) == (100, 6, 106)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (9, 2, 30)
    assert (batch.base_timestamp, batch.max_timestamp) == (1000, 1007)
    assert batch.partition_leader_epoch == 4
    assert (batch.compression, batch.timestamp_type) == (codec, "CreateTime")
    assert (batch.is_transactional, batch.is_control, batch.delete_horizon_ms) == (
        True,
        False,
        None,
    )
    assert batch.unused_attributes == 0x4080
    assert batch.crc == google_crc32c.value(data[21:])
    assert list(batch.records) == [
        LogRecord(100, 1005, "CreateTime", b"k", b"one", (Header("h", b"x"),)),
        LogRecord(101, 1007, "CreateTime", None, None),
    ]
    assert list(batch.records.rows()) == [(100, 1005, b"k", b"one"), (101, 1007, None, None)]
    assert batch.records[1] == batch.records[-1] == batch.records[1:][0]


def test_log_append_time_overrides_timestamp_of_every_record() -> None:
    data = encode_batch(
        RecordBatch(TWO, attributes=LOG_APPEND_TIME, base_timestamp=1000, max_timestamp=5000)
    )
    reading = read(data)
    assert [row[1:3] for row in seen(reading)] == [(5000, "LogAppendTime")] * 2
    assert reading.batches[0].record_timestamps == [1005, 1007]


def test_delete_horizon_is_base_of_timestamp_deltas() -> None:
    """KIP-534: the base is the horizon; the record's time stays what it was."""
    record = Record(b"v", timestamp_delta=1005 - 90_000)
    (batch,) = read(
        encode_batch(RecordBatch([record], attributes=DELETE_HORIZON, base_timestamp=90_000))
    ).batches
    assert batch.delete_horizon_ms == 90_000
    assert batch.records[0].timestamp == 1005


def test_read_records_reads_control_batch_and_empty_batch() -> None:
    control = RecordBatch(TWO[:1], attributes=CONTROL | TRANSACTIONAL, producer_id=1)
    empty = RecordBatch(
        (), base_offset=5, last_offset_delta=9, base_timestamp=-1, max_timestamp=77, base_sequence=3
    )
    first, second = read(encode_batch(control) + encode_batch(empty)).batches
    assert first.is_control
    assert (len(second.records), second.last_offset, second.max_timestamp) == (0, 14, 77)
    assert (second.base_timestamp, second.base_sequence) == (-1, 3)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_read_records_reads_message_sets(magic: int, codec: str) -> None:
    sent = [
        replace(message, magic=magic, timestamp=message.timestamp if magic else -1)
        for message in MESSAGES
    ]
    reading = read(encode_message_set(sent, codec))
    kind = "CreateTime" if magic else "NoTimestampType"
    expected = [(m.offset, m.timestamp, kind, m.key, m.value) for m in sent]
    assert seen(reading) == expected
    assert len(reading.batches) == (3 if codec == "none" else 1)
    last = reading.batches[-1]
    assert (last.magic, last.compression, last.last_offset) == (magic, codec, 42)
    assert last.producer_id == last.base_sequence == last.partition_leader_epoch == -1
    assert not last.is_control


def test_wrapper_with_log_append_time_sets_timestamps_and_keeps_offset_gaps() -> None:
    wrapper = wrapper_of([MESSAGES[0], replace(MESSAGES[2], offset=45)], "gzip")
    wrapper = replace(wrapper, attributes=wrapper.attributes | LOG_APPEND_TIME, timestamp=99)
    rows = seen(read(encode_message(wrapper)))
    assert [row[:3] for row in rows] == [(40, 99, "LogAppendTime"), (45, 99, "LogAppendTime")]


GOOD = encode_batch(RecordBatch(TWO, base_offset=10))
OTHER = encode_batch(RecordBatch(TWO, base_offset=20), "gzip")
OLD = encode_message(MESSAGES[0])


def test_read_records_reads_mixed_formats_in_sequence() -> None:
    reading = read(OLD + GOOD + encode_message(replace(MESSAGES[1], magic=0)) + OTHER)
    assert [batch.magic for batch in reading.batches] == [1, 2, 0, 2]
    assert [batch.base_offset for batch in reading.batches] == [40, 10, 41, 20]
    assert not reading.problems
    assert not reading.partial_bytes
    assert not reading.unread_bytes


@pytest.mark.parametrize("last", [GOOD, OTHER, OLD], ids=["plain", "gzip", "old"])
def test_truncated_last_batch_is_reported_as_partial_bytes(last: bytes) -> None:
    for size in range(len(last)):
        reading = read(GOOD + last[:size])
        assert (len(reading.batches), reading.problems) == (1, [])
        assert (reading.partial_bytes, reading.unread_bytes) == (size, 0)


def with_crc(data: bytes) -> bytes:
    return data[:17] + struct.pack(">I", google_crc32c.value(data[21:])) + data[21:]


def changed(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


DAMAGED = {
    "checksum": (changed(GOOD, 17, b"\0\0\0\0"), "checksum 0x0, computed"),
    "record": (
        encode_batch_around(RecordBatch(base_offset=10, record_count=1), b"\x0c\0\0\0\1\1\1"),
        "record 0 .* -1 headers",
    ),
    "count": (with_crc(changed(GOOD, 60, b"\3")), "3 records promised, 2 found"),
    "gzip": (with_crc(changed(OTHER, 70, b"\xff\xff")), "gzip: "),
    "codec": (with_crc(changed(GOOD, 22, b"\7")), "unknown compression codec 7"),
    "codec, no records": (encode_batch(RecordBatch(attributes=7)), "unknown compression codec 7"),
    "magic": (changed(GOOD, 16, b"\3"), "magic 3; there are 0, 1 and 2"),
    "negative magic": (changed(GOOD, 16, b"\xff"), "magic -1; there are"),
    "short batch": (changed(GOOD, 8, struct.pack(">i", 14))[:26], "impossible length 14"),
    "old checksum": (encode_message(replace(MESSAGES[0], crc=1)), "checksum 0x1, computed"),
    "wrapper": (encode_message(replace(MESSAGES[0], attributes=1)), "gzip: "),
    "empty wrapper": (
        encode_message(LegacyMessage(compress(1, b""), attributes=1, offset=10)),
        "no message is inside",
    ),
    "zstd wrapper": (encode_message(replace(MESSAGES[0], attributes=4)), "zstd is for magic 2"),
}


@pytest.mark.parametrize(("damaged", "problem"), DAMAGED.values(), ids=list(DAMAGED))
def test_damaged_batch_is_reported_and_other_batches_are_read(damaged: bytes, problem: str) -> None:
    reading = read(OLD + damaged + OTHER + GOOD[:30])
    assert [batch.base_offset for batch in reading.batches] == [40, 20]
    (found,) = reading.problems
    assert (found.position, found.size_bytes) == (len(OLD), len(damaged))
    assert found.base_offset == struct.unpack_from(">q", damaged)[0]
    assert found.magic == struct.unpack_from(">b", damaged, 16)[0]
    with pytest.raises(type(found.error), match=problem):
        raise found.error
    assert str(found).startswith(f"offset {found.base_offset}, byte {len(OLD)}: ")
    assert (reading.partial_bytes, reading.unread_bytes) == (30, 0)


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 13])
def test_impossible_batch_length_stops_reading(length: int) -> None:
    rest = changed(GOOD, 8, struct.pack(">i", length)) + GOOD
    reading = read(OLD + rest)
    assert [batch.base_offset for batch in reading.batches] == [40]
    assert f"byte {len(OLD)}: impossible length {length}" in str(reading.problems[0].error)
    assert (reading.unread_bytes, reading.partial_bytes) == (len(rest), 0)


def test_impossible_batch_length_is_reported_before_magic() -> None:
    """As in Kafka's reader, where the bytes end behind the length."""
    assert read(OLD + bytes(11)).partial_bytes == 11
    reading = read(OLD + bytes(12))
    assert (reading.partial_bytes, reading.unread_bytes) == (0, 12)
    assert "impossible length 0" in str(reading.problems[0].error)


@pytest.mark.parametrize("codec", CODEC_IDS)
def test_byte_limit_applies_to_sum_of_batches(codec: str) -> None:
    one = encode_batch(RecordBatch([Record(bytes(1000))]), codec)
    size = len(encode_batch(RecordBatch([Record(bytes(1000))]))) - 61
    assert len(read(one * 5, 5 * size).batches) == 5
    reading = read(one * 5, 5 * size - 1)
    assert len(reading.batches) == 4
    assert isinstance(reading.problems[0].error, LimitError)
    assert (reading.unread_bytes, reading.partial_bytes) == (len(one), 0)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_byte_limit_applies_to_sum_of_message_sets(codec: str) -> None:
    one = encode_message_set([LegacyMessage(bytes(1000))], codec)
    size = len(encode_message(LegacyMessage(bytes(1000))))
    assert len(read(one * 5, 5 * size).batches) == 5
    reading = read(one * 5, 5 * size - 1)
    assert (len(reading.batches), reading.unread_bytes) == (4, len(one))
    assert isinstance(reading.problems[0].error, LimitError)


@pytest.mark.parametrize(
    ("base", "delta", "expected"),
    [(2**63 - 1, 1, -(2**63)), (-(2**63), -1, 2**63 - 1), (1, 2**63 - 1, -(2**63)), (0, -5, -5)],
)
def test_offset_and_timestamp_sums_overflow_as_in_java(
    base: int, delta: int, expected: int
) -> None:
    batch = RecordBatch([Record(b"v", timestamp_delta=delta)], base_timestamp=base, max_timestamp=0)
    assert seen(read(encode_batch(batch)))[0][1] == expected
    far = RecordBatch([Record(b"v", offset_delta=1)], base_offset=2**63 - 1)
    assert seen(read(encode_batch(far)))[0][0] == -(2**63)


def accounted_bytes(reading: RecordsReading) -> int:
    batches = sum(batch.size_bytes for batch in reading.batches)
    problems = sum(problem.size_bytes for problem in reading.problems)
    return batches + problems + reading.partial_bytes + reading.unread_bytes


@settings(QUICK, max_examples=200)
@given(records=RECORDS, codec=st.sampled_from(list(CODEC_IDS)), data=st.data())
def test_reading_of_damaged_batch_accounts_for_every_byte(
    records: list[Record], codec: str, data: st.DataObject
) -> None:
    raw = bytearray(OLD + encode_batch(RecordBatch(records, max_timestamp=0), codec) + GOOD)
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    reading = read(bytes(raw))
    assert accounted_bytes(reading) == len(raw)


@settings(QUICK, max_examples=300)
@given(st.binary(max_size=200))
def test_reading_of_random_bytes_accounts_for_every_byte(raw: bytes) -> None:
    reading = read(raw)
    assert accounted_bytes(reading) == len(raw)
