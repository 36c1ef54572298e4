"""Stored batches as the message sets that old consumers read.

The length of an answer is settled before all of it is converted. So what converted data lack is
filled up with one message that says it is longer than the answer: a reader takes it for cut off
and asks again from there. Source: classes LazyDownConversionRecords and
LazyDownConversionRecordsSend of Apache Kafka 3.9 (KIP-283).
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    NoOldForm,
    RecordsError,
)
from harness.codec.records.run_conversion import down_convert_run
from harness.reference_broker.state.batch_bytes import magic_of, next_batch_size
from harness.reference_broker.state.fetch_reading import PartitionReading

_CHUNK_BYTES = 128 * 1024
_ALREADY_CHECKED_BYTES = 2**31 - 1
_FILL = struct.Struct(">qi")  # offset and length of the message that is never there


def magic_for(api_version: int) -> int | None:
    """The newest format that a fetch of this version may get; None: as it is stored."""
    if api_version <= 1:
        return 0
    return 1 if api_version <= 3 else None


@dataclass(frozen=True, slots=True)
class ConversionRules:
    """Of a topic: whether it `stores_zstd` whatever it is sent, whether it may be converted."""

    stores_zstd: bool = False
    may_convert: bool = True


def as_message_sets(
    reading: PartitionReading, magic: int, fetch_offset: int, rules: ConversionRules
) -> PartitionReading:
    """The reading with its batches converted if any is newer, or an error instead of it.

    UNSUPPORTED_COMPRESSION_TYPE: a batch in zstd has no old form. Behind others it is left for the
    next fetch; as the first, or on a topic that stores zstd, the reader gets the error.
    UNSUPPORTED_VERSION: something is newer than the reader, and the topic forbids to convert it.
    CORRUPT_MESSAGE: what comes first is damaged, which its old form would hide.
    """
    if reading.error is not ErrorCode.NONE:
        return reading
    records = bytes(reading.records)
    entries = _entries(records)
    is_newer = any(magic_of(entry) > magic for entry in entries)
    try:
        if rules.stores_zstd:
            raise NoOldForm("the topic stores zstd")
        if is_newer and not rules.may_convert:
            return PartitionReading(reading.key, ErrorCode.UNSUPPORTED_VERSION)
        if not is_newer:
            return reading
        records = _converted(entries, len(records), magic, fetch_offset)
    except NoOldForm:
        return PartitionReading(reading.key, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    except RecordsError:
        return PartitionReading(reading.key, ErrorCode.CORRUPT_MESSAGE)
    return replace(reading, records=records)


def _entries(records: bytes) -> list[bytes]:
    """Batches, or messages of an older format."""
    found, position = [], 0
    while (size := next_batch_size(records, position)) is not None:
        found.append(records[position : position + size])
        position += size
    return found


def _converted(entries: Sequence[bytes], read_bytes: int, magic: int, fetch_offset: int) -> bytes:
    """`read_bytes` is what was read of the log, a last batch that is cut included."""
    first, behind_first = b"", 0
    for entry in entries:
        behind_first += 1
        if first := _as_magic(entry, magic, fetch_offset):
            break
    if not first:
        return _fill(_FILL.size) if entries else b""
    length = max(read_bytes, len(first))
    made = bytearray(first)
    try:
        for chunk in _chunks(entries[behind_first:]):
            made += _as_magic(b"".join(chunk), magic, fetch_offset)
    except RecordsError:
        pass  # damaged, or without an old form: the whole chunk is left for the next fetch
    if len(made) < length:
        made += _fill(length - len(made))
    return bytes(made[:length])


def _fill(size_bytes: int) -> bytes:
    """The beginning of a message that does not end within the answer."""
    begun = _FILL.pack(-1, max(size_bytes + 1, BATCH_HEADER_BYTES)) + bytes(size_bytes)
    return begun[:size_bytes]


def _as_magic(entries: bytes, magic: int, fetch_offset: int) -> bytes:
    return down_convert_run(entries, magic, fetch_offset, limit_bytes=_ALREADY_CHECKED_BYTES)


def _chunks(entries: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Batches that are converted together: 128 KiB, or one that is larger."""
    chunk: list[bytes] = []
    chunk_bytes = 0
    for entry in entries:
        if chunk and chunk_bytes + len(entry) > _CHUNK_BYTES:
            yield chunk
            chunk, chunk_bytes = [], 0
        chunk.append(entry)
        chunk_bytes += len(entry)
    if chunk:
        yield chunk
