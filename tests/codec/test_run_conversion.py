"""Runs of any formats for old readers: what stays, what is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.codec.records import (
    CONTROL,
    LOG_APPEND_TIME,
    CorruptMessageError,
    Header,
    LegacyMessage,
    NoOldForm,
    Record,
    RecordBatch,
    decode_batches,
    decode_message_set,
    down_convert,
    encode_batch,
    encode_message,
    encode_message_set,
)
from harness.codec.records.run_conversion import down_convert_run

OLD = [LegacyMessage(b"a", b"k", 11, 40), LegacyMessage(None, None, 12, 42)]
NEW = RecordBatch(
    [Record(b"v", b"k", [Header("h", b"x")], 5), Record(b"w", timestamp_delta=7)],
    base_offset=50,
    base_timestamp=1000,
    producer_id=3,
    producer_epoch=0,
    base_sequence=9,
)


def converted(data: bytes, to_magic: int, first_offset: int = 0) -> bytes:
    return down_convert_run(data, to_magic, first_offset, limit_bytes=1 << 20)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_magic_1_converts_to_magic_0_without_timestamps(codec: str) -> None:
    """Times go; offsets inside a compressed set are absolute again."""
    found = decode_message_set(converted(encode_message_set(OLD, codec), 0))
    assert found == [replace(message, magic=0, timestamp=-1) for message in OLD]


def test_messages_of_requested_or_older_magic_are_unchanged() -> None:
    plain, packed = encode_message_set(OLD), encode_message_set(OLD, "gzip")
    oldest = encode_message(replace(OLD[0], magic=0))
    assert converted(plain + packed + oldest, 1) == plain + packed + oldest
    assert converted(oldest, 0) == oldest


@pytest.mark.parametrize("to_magic", [0, 1])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_conversion_of_run_equals_conversion_of_each_batch(codec: str, to_magic: int) -> None:
    for attributes in (0, LOG_APPEND_TIME):
        data = encode_batch(replace(NEW, attributes=attributes, max_timestamp=1007), codec)
        (batch,) = decode_batches(data)
        oldest = encode_message(replace(OLD[0], magic=0))
        assert converted(oldest + data, to_magic) == oldest + down_convert(batch, to_magic)


def test_first_offset_drops_earlier_records_only_from_uncompressed_batch() -> None:
    for codec, offsets in (("none", [51]), ("gzip", [50, 51])):
        found = decode_message_set(converted(encode_batch(NEW, codec), 1, 51))
        assert [message.offset for message in found] == offsets


def test_control_empty_and_truncated_batches_convert_to_nothing() -> None:
    control = encode_batch(replace(NEW, attributes=CONTROL))
    empty = encode_batch(RecordBatch((), last_offset_delta=4))
    assert converted(control + empty + encode_batch(NEW)[:-1], 1) == b""


def test_zstd_batch_and_corrupt_batch_are_refused() -> None:
    with pytest.raises(NoOldForm, match="offset 50 is in zstd"):
        converted(encode_batch(NEW, "zstd"), 1)
    with pytest.raises(CorruptMessageError, match="checksum"):
        converted(encode_batch(replace(NEW, crc=1)), 1)
