"""Stored batches as the message sets that old consumers read.

The length of an answer is settled before all of it is converted. So what converted data lack is
filled up with one message that says it is longer than the answer: a reader takes it for cut off
and asks again from there. Source: classes LazyDownConversionRecords and
LazyDownConversionRecordsSend of Apache Kafka 3.9 (KIP-283).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    NoOldForm,
    RecordBatch,
    decode_batches,
    down_convert,
    split_batches,
)
from harness.reference_broker.state.fetch_reading import PartitionReading

_CHUNK_BYTES = 128 * 1024
_FILL = struct.Struct(">qi")  # offset and length of the message that is never there


def magic_for(api_version: int) -> int | None:
    """The newest format that a fetch of this version may get; None: as it is stored."""
    if api_version <= 1:
        return 0
    return 1 if api_version <= 3 else None


def as_message_sets(
    reading: PartitionReading, magic: int, fetch_offset: int, stores_zstd: bool
) -> PartitionReading:
    """The reading with its batches converted, or UNSUPPORTED_COMPRESSION_TYPE instead of it.

    A batch in zstd has no old form. Behind others it is left for the next fetch; as the first, or
    on a topic that `stores_zstd` whatever it is sent, the reader gets the error.
    """
    if reading.error is not ErrorCode.NONE:
        return reading
    try:
        if stores_zstd:
            raise NoOldForm("the topic stores zstd")
        records = _converted(reading.records, reading.available_bytes, magic, fetch_offset)
    except NoOldForm:
        return PartitionReading(reading.key, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return replace(reading, records=records)


def _converted(records: bytes, read_bytes: int, magic: int, fetch_offset: int) -> bytes:
    """`read_bytes` is what was read of the log, a last batch that is cut included."""
    batches = decode_batches(records)
    sizes = [header.size_bytes for header, _ in split_batches(records)]
    first, behind_first = b"", 0
    for batch in batches:
        behind_first += 1
        if first := down_convert(batch, magic, fetch_offset):
            break
    if not first:
        return _fill(_FILL.size) if batches else b""
    length = max(read_bytes, len(first))
    made = bytearray(first)
    try:
        for chunk in _chunks(batches[behind_first:], sizes[behind_first:]):
            made += b"".join([down_convert(batch, magic, fetch_offset) for batch in chunk])
    except NoOldForm:
        pass  # the whole chunk is left for the next fetch
    if len(made) < length:
        made += _fill(length - len(made))
    return bytes(made[:length])


def _fill(size_bytes: int) -> bytes:
    """The beginning of a message that does not end within the answer."""
    begun = _FILL.pack(-1, max(size_bytes + 1, BATCH_HEADER_BYTES)) + bytes(size_bytes)
    return begun[:size_bytes]


def _chunks(batches: Sequence[RecordBatch], sizes: Sequence[int]) -> Iterator[list[RecordBatch]]:
    """Batches that are converted together: 128 KiB, or one that is larger."""
    chunk: list[RecordBatch] = []
    chunk_bytes = 0
    for batch, size in zip(batches, sizes, strict=True):
        if chunk and chunk_bytes + size > _CHUNK_BYTES:
            yield chunk
            chunk, chunk_bytes = [], 0
        chunk.append(batch)
        chunk_bytes += size
    if chunk:
        yield chunk
