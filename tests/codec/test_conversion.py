"""Batches for old readers, message sets of old writers: what stays, what goes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.records import (
    CONTROL,
    LOG_APPEND_TIME,
    Header,
    LegacyMessage,
    NoOldForm,
    Record,
    RecordBatch,
    decode_batches,
    decode_message_set,
    down_convert,
    encode_batch,
    split_message_set,
    up_convert,
)
from harness.codec.records.compression import CODEC_IDS
from labs.message_values.values import QUICK
from tests.codec.test_message_set import BYTES, CODECS

RECORDS = st.lists(
    st.builds(
        Record,
        value=BYTES,
        key=BYTES,
        headers=st.lists(st.builds(Header, st.text(max_size=5), BYTES), max_size=2),
        timestamp_delta=st.integers(-1000, 1000),
    ),
    min_size=1,
    max_size=6,
)


def _batch(codec: str, records: list[Record], attributes: int = 0) -> RecordBatch:
    """A stored batch at offset 70, its times around 5000."""
    made = RecordBatch(
        records, base_offset=70, base_timestamp=5_000, max_timestamp=9_000, attributes=attributes
    )
    (batch,) = decode_batches(encode_batch(made, codec))
    return batch


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
@settings(QUICK, max_examples=40)
@given(records=RECORDS, by_broker=st.booleans())
def test_down_conversion_keeps_offsets_keys_values_and_timestamps(
    codec: str, magic: int, records: list[Record], by_broker: bool
) -> None:
    batch = _batch(codec, records, LOG_APPEND_TIME if by_broker else 0)
    found = decode_message_set(down_convert(batch, magic))
    times = [9_000 if by_broker else 5_000 + record.timestamp_delta for record in records]
    assert found == [
        LegacyMessage(
            record.value,
            record.key,
            time if magic else -1,
            70 + position,
            magic,
            LOG_APPEND_TIME if by_broker and magic else 0,
        )
        for position, (record, time) in enumerate(zip(records, times, strict=True))
    ]


def test_first_offset_drops_earlier_records_only_from_uncompressed_batch() -> None:
    records = [Record(b"x")] * 4
    plain = decode_message_set(down_convert(_batch("none", records), 1, 72))
    assert [message.offset for message in plain] == [72, 73]
    packed = decode_message_set(down_convert(_batch("gzip", records), 1, 72))
    assert [message.offset for message in packed] == [70, 71, 72, 73]
    assert down_convert(_batch("none", records), 1, 74) == b""


def test_down_conversion_keeps_offset_gaps() -> None:
    """A compacted batch: the deltas have gaps, the wrapper ends at the last record that is left."""
    records = [Record(b"x", offset_delta=delta) for delta in (2, 5)]
    for codec in ("none", "lz4"):
        for magic in (0, 1):
            raw = down_convert(_batch(codec, records), magic)
            assert [message.offset for message in decode_message_set(raw)] == [72, 75]
            assert split_message_set(raw)[-1].offset == 75


def test_down_conversion_drops_control_batch_and_refuses_zstd() -> None:
    assert down_convert(_batch("none", [Record(b"x")], CONTROL), 1) == b""
    with pytest.raises(NoOldForm, match="zstd"):
        down_convert(_batch("zstd", [Record(b"x")]), 0)


@pytest.mark.parametrize("codec", CODEC_IDS)
@settings(QUICK, max_examples=40)
@given(
    parts=st.lists(st.tuples(BYTES, BYTES, st.integers(-1, 2**40)), min_size=1, max_size=6),
    append_time=st.none() | st.integers(0, 2**40),
)
def test_up_conversion_returns_one_batch_of_all_messages(
    codec: str, parts: list[tuple[bytes | None, bytes | None, int]], append_time: int | None
) -> None:
    messages = [LegacyMessage(value, key, time, 500) for value, key, time in parts]
    raw = up_convert(
        messages, 7, partition_leader_epoch=3, compression=codec, log_append_time=append_time
    )
    (batch,) = decode_batches(raw)
    assert (batch.compression, batch.base_offset, batch.partition_leader_epoch) == (codec, 7, 3)
    assert batch.last_offset_delta == len(messages) - 1
    largest = max(message.timestamp for message in messages)
    assert batch.max_timestamp == (largest if append_time is None else append_time)
    assert bool(batch.attributes & LOG_APPEND_TIME) == (append_time is not None)
    found = [(r.value, r.key, batch.base_timestamp + r.timestamp_delta) for r in batch.records]
    assert found == [(m.value, m.key, m.timestamp) for m in messages]
    assert not any(record.headers for record in batch.records)


@pytest.mark.parametrize("codec", CODECS)
@settings(QUICK, max_examples=20)
@given(parts=st.lists(st.tuples(BYTES, BYTES), min_size=1, max_size=6))
def test_magic_0_messages_round_trip_through_up_and_down_conversion(
    codec: str, parts: list[tuple[bytes | None, bytes | None]]
) -> None:
    sent = [LegacyMessage(value, key, -1, at, 0) for at, (value, key) in enumerate(parts)]
    (batch,) = decode_batches(up_convert(sent, compression=codec))
    assert decode_message_set(down_convert(batch, 0)) == sent
    with_time = [replace(message, magic=1) for message in sent]
    assert decode_message_set(down_convert(batch, 1)) == with_time
