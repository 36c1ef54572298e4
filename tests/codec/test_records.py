"""Record batches: all codecs, every field, cuts and damage."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import CodecError
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    BatchHeader,
    CompressionError,
    Header,
    Record,
    RecordBatch,
    RecordsError,
    decode_batches,
    encode_batch,
    encode_batch_around,
    encode_rows,
    split_batches,
)
from harness.codec.records.compression import CODEC_IDS
from labs.message_values.values import QUICK, outcome
from tests.codec.test_walk import RECORDS

pytestmark = pytest.mark.rotates(8)

CODECS = list(CODEC_IDS)


@pytest.mark.parametrize("codec", CODECS)
@settings(QUICK, max_examples=40)
@given(records=RECORDS)
def test_record_batch_round_trips(codec: str, records: list[Record]) -> None:
    sent = RecordBatch(records=records, base_offset=7, base_timestamp=1000, max_timestamp=5)
    (read,) = decode_batches(encode_batch(sent, codec))
    assert read.compression == codec
    assert read.records == tuple(
        replace(
            record,
            offset_delta=at if record.offset_delta is None else record.offset_delta,
            headers=tuple(record.headers),
        )
        for at, record in enumerate(records)
    )
    assert (read.base_offset, read.base_timestamp, read.max_timestamp) == (7, 1000, 5)


@settings(QUICK, max_examples=100)
@given(records=RECORDS, compression=st.sampled_from([None, *CODECS]))
def test_encode_rows_equals_encode_batch(records: list[Record], compression: str | None) -> None:
    rows = [(5 + record.timestamp_delta % 2**62, record.key, record.value) for record in records]
    base = rows[0][0] if rows else 3
    made = [Record(value, key, timestamp_delta=time - base) for time, key, value in rows]
    batch = RecordBatch(made, base_offset=7, base_timestamp=base, producer_id=4)
    given_header = RecordBatch(base_offset=7, base_timestamp=3, producer_id=4)
    assert encode_rows(rows, given_header, compression) == encode_batch(batch, compression)
    assert decode_batches(encode_rows(rows))[0].record_count == len(rows)


def test_batch_encodes_to_hand_written_bytes() -> None:
    record = Record(b"v", b"k", [Header("h", b"x")], timestamp_delta=-1)
    payload = bytes.fromhex("18 00 01 00 02 6b 02 76 02 02 68 02 78")
    header = struct.pack(">qiibIhiqqqhii", 3, 49 + 13, -1, 2, 0, 0x10, 0, 100, 99, 8, 1, 5, 1)
    crc = google_crc32c.value(header[21:] + payload)
    batch = RecordBatch(
        [record],
        base_offset=3,
        attributes=0x10,
        base_timestamp=100,
        producer_id=8,
        producer_epoch=1,
        base_sequence=5,
    )
    assert encode_batch(batch) == header[:17] + struct.pack(">I", crc) + header[21:] + payload


def test_checksum_is_crc_32c() -> None:
    """The check value of CRC-32C (RFC 3720, appendix B.4: 32 bytes of zeros; and "123456789")."""
    assert google_crc32c.value(b"123456789") == 0xE3069283
    assert google_crc32c.value(bytes(32)) == 0x8A9136AA


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_offset", -5),
        ("partition_leader_epoch", 9),
        ("last_offset_delta", 77),
        ("base_timestamp", -1),
        ("max_timestamp", 123),
        ("producer_id", 2**62),
        ("producer_epoch", 3),
        ("base_sequence", 2**31 - 1),
        ("attributes", 0x38),
    ],
)
def test_every_batch_header_field_round_trips(field: str, value: int) -> None:
    values: dict[str, Any] = {field: value}
    data = encode_batch(RecordBatch([Record(b"x")], **values))
    assert getattr(BatchHeader.read(data), field) == value
    assert getattr(decode_batches(data)[0], field) == value


@pytest.mark.parametrize(
    ("batch", "problem"),
    [
        (RecordBatch([Record(b"x")], crc=1), "checksum 0x1, computed"),
        (RecordBatch([Record(b"x")], magic=1), "magic 1"),
        (RecordBatch([Record(b"x")], record_count=2), "2 records promised, 1 found"),
        (RecordBatch([Record(b"x")], record_count=0), "0 records promised, 1 found"),
        (RecordBatch([Record(b"x")], batch_length=48), "impossible length 48"),
        (RecordBatch([Record(b"x")], batch_length=-1), "impossible length -1"),
    ],
)
def test_inconsistent_batch_header_raises_records_error(batch: RecordBatch, problem: str) -> None:
    for before in (b"", encode_batch(RecordBatch([Record(b"first")]))):
        with pytest.raises(RecordsError, match=problem) as caught:
            decode_batches(before + encode_batch(batch))
        assert f"batch at byte {len(before)}" in str(caught.value)


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"\0", "record 0 .* index out of range"),
        (b"\1", "record length -1"),
        (b"\x7e\0", "record length 63 with 1 bytes left"),
        (b"\x0c\0\0\0\1\1\1", "-1 headers"),
        (b"\x10\0\0\0\1\1\2\1\1", "a header without key"),
        (b"\x12\0\0\0\1\1\2\2\xff\1", "utf-8"),
        (b"\x0c\0\0\0\3\1\0", "length -2"),
        (b"\x0e\0\0\0\1\1\0\0", "ends 1 bytes off"),
        (b"\x0c\0\0\0\1\1\0\x80", "record 1 .* index out of range"),
    ],
    ids=range(9),
)
def test_malformed_record_raises_records_error(payload: bytes, problem: str) -> None:
    with pytest.raises(RecordsError, match=problem):
        decode_batches(encode_batch_around(RecordBatch(record_count=1), payload))


def test_unknown_codec_raises_compression_error() -> None:
    data = bytearray(encode_batch(RecordBatch([Record(b"x")])))
    data[22] |= 5
    data[17:21] = struct.pack(">I", google_crc32c.value(bytes(data[21:])))
    with pytest.raises(CompressionError, match="unknown compression codec 5"):
        decode_batches(bytes(data))


def test_truncated_last_batch_is_ignored() -> None:
    first, second = (encode_batch(RecordBatch([Record(word)])) for word in (b"one", b"two"))
    for size in range(len(second)):
        found = decode_batches(first + second[:size])
        assert [batch.records[0].value for batch in found] == [b"one"]
    assert [start for _, start in split_batches(first + second)] == [0, len(first)]


def test_batch_header_shorter_than_61_bytes_raises_records_error() -> None:
    with pytest.raises(RecordsError, match="a batch header at byte 2 needs 61 bytes"):
        BatchHeader.read(bytes(BATCH_HEADER_BYTES + 1), 2)


@settings(QUICK, max_examples=100)
@given(records=RECORDS, codec=st.sampled_from(CODECS), data=st.data())
def test_decode_of_damaged_batch_raises_only_codec_error(
    records: list[Record], codec: str, data: st.DataObject
) -> None:
    """With the checksum made right again, so that the damage is reached."""
    raw = bytearray(encode_batch(RecordBatch(records, max_timestamp=0), codec))
    at = data.draw(st.integers(BATCH_HEADER_BYTES - 4, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    raw[17:21] = struct.pack(">I", google_crc32c.value(bytes(raw[21:])))
    found = outcome(lambda: decode_batches(bytes(raw)), CodecError)
    assert isinstance(found, CodecError) or len(found) == 1


@settings(QUICK, max_examples=100)
@given(st.binary(max_size=200))
def test_decode_of_random_bytes_raises_codec_error_or_returns_nothing(raw: bytes) -> None:
    found = outcome(lambda: decode_batches(raw), CodecError)
    assert isinstance(found, CodecError) or found == []
