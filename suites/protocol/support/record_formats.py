"""Records in the format of a version: message sets of magic 0 and 1, batches of magic 2.

Produce 0 and 1 write magic 0, Produce 2 magic 1; Fetch 0 and 1 read magic 0, Fetch 2 and 3 up to
magic 1. A test describes its records as a batch, and reads the returned ones in any format.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.codec.records import (
    Record,
    RecordBatch,
    decode_batches,
    decode_message_set,
    down_convert,
    encode_batch,
    split_batches,
)
from harness.codec.records.compression import CODEC_IDS

FIRST_PRODUCE_OF_BATCHES, FIRST_PRODUCE_OF_MAGIC_1 = 3, 2
MAGIC_AT = 16


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """The fields of a record that every format has."""

    offset: int
    key: bytes | None
    value: bytes | None


def encoded_for(produce_version: int, batch: RecordBatch, compression: str = "none") -> bytes:
    """The batch as this version of Produce carries it; before version 3 as a message set."""
    if produce_version >= FIRST_PRODUCE_OF_BATCHES:
        return encode_batch(batch, compression)
    magic = 1 if produce_version >= FIRST_PRODUCE_OF_MAGIC_1 else 0
    return down_convert(replace(batch, attributes=CODEC_IDS[compression]), magic)


def records_in(data: bytes) -> list[ReadRecord]:
    """All whole records, in the order of the bytes. Raises what the decoders raise."""
    if len(data) <= MAGIC_AT:
        return []
    if data[MAGIC_AT] < 2:
        return [ReadRecord(m.offset, m.key, m.value) for m in decode_message_set(data)]
    return [
        ReadRecord(batch.base_offset + (record.offset_delta or 0), record.key, record.value)
        for batch in decode_batches(data)
        for record in batch.records
    ]


def batches_in(data: bytes) -> list[RecordBatch]:
    """All whole batches, in the order of the bytes; each message of a message set as one of its
    own. Raises what the decoders raise."""
    if len(data) > MAGIC_AT and data[MAGIC_AT] >= 2:
        return decode_batches(data)
    return [
        RecordBatch([Record(one.value, one.key, offset_delta=0)], base_offset=one.offset)
        for one in records_in(data)
    ]


def first_offsets(data: bytes) -> tuple[int, int]:
    """The first and the last offset of the first batch, or of the first message."""
    if data[MAGIC_AT] >= 2:
        header, _ = split_batches(data)[0]
        return header.base_offset, header.last_offset
    first = decode_message_set(data)[0].offset
    return first, first
