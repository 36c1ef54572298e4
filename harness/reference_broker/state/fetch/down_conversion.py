"""Conversion of stored batches to the message sets that old consumers read.

The length of a response is fixed before all of it is converted. Where the converted data is
shorter, the broker fills the rest with the beginning of a message that is longer than the response:
a consumer takes that message for cut off and fetches from there again. Source: classes
LazyDownConversionRecords and LazyDownConversionRecordsSend of Apache Kafka 3.9 (KIP-283).
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
from harness.reference_broker.state.fetch.fetch_reading import PartitionReading
from harness.reference_broker.state.log.batch_bytes import magic_of, next_batch_size

_CHUNK_BYTES = 128 * 1024
_ALREADY_CHECKED_BYTES = 2**31 - 1
_FILL = struct.Struct(">qi")  # offset and length of the message that is only begun


def magic_for(api_version: int) -> int | None:
    """Return the newest format that a fetch of this version may get; None: the stored format."""
    if api_version <= 1:
        return 0
    return 1 if api_version <= 3 else None


@dataclass(frozen=True, slots=True)
class ConversionRules:
    """Rules of a topic: it `may_convert` batches.

    `looks_at_batches`: what is in the reader's format already is sent as it is read. Otherwise all
    is converted, so that an unfinished batch alone is no data, and a topic that may not convert has
    nothing for old readers (KAFKA-12944: since 3.0 the format of a topic is always the newest).
    `fills`: converted data is as long as the read. Before Kafka 2.0 (KIP-283) it has its own
    length. `keeps_unconverted`: where no record is converted the batches come as they are, since
    1.1 (class FileRecords); before, only what is no whole batch does.
    """

    may_convert: bool = True
    looks_at_batches: bool = False
    fills: bool = True
    keeps_unconverted: bool = True


def as_message_sets(
    reading: PartitionReading, magic: int, fetch_offset: int, rules: ConversionRules
) -> PartitionReading:
    """Return the reading with its batches converted if any is newer, or with an error.

    UNSUPPORTED_COMPRESSION_TYPE: a batch in zstd has no old form. After other batches it is left
    for the next fetch; if it is the first, the reader gets the error.
    UNSUPPORTED_VERSION: a batch is newer than the reader's format, and the topic forbids
    conversion. CORRUPT_MESSAGE: the first batch is damaged, and its old form would hide that.
    """
    records = bytes(reading.records)
    entries = _entries(records)
    as_read = rules.looks_at_batches and all(magic_of(entry) <= magic for entry in entries)
    try:
        if as_read:
            return reading
        if not rules.may_convert:
            return PartitionReading(reading.key, ErrorCode.UNSUPPORTED_VERSION)
        if rules.fills:
            records = _converted(entries, len(records), magic, fetch_offset)
        elif rules.keeps_unconverted or not entries:
            records = _converted_whole(entries, magic, fetch_offset) or records
        else:
            records = _as_magic(b"".join(entries), magic, fetch_offset)
    except NoOldForm:
        return PartitionReading(reading.key, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    except RecordsError:
        return PartitionReading(reading.key, ErrorCode.CORRUPT_MESSAGE)
    return replace(reading, records=records)


def _entries(records: bytes) -> list[bytes]:
    """Return the batches, or the messages of an older format."""
    found, position = [], 0
    while (size := next_batch_size(records, position)) is not None:
        found.append(records[position : position + size])
        position += size
    return found


def _converted(entries: Sequence[bytes], read_bytes: int, magic: int, fetch_offset: int) -> bytes:
    """Return the converted data. `read_bytes`: the size of the read, a last cut batch included."""
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


def _converted_whole(entries: Sequence[bytes], magic: int, fetch_offset: int) -> bytes:
    """Return all entries converted, without a last cut batch; nothing if no record was."""
    newer = [entry for entry in entries if magic_of(entry) > magic]
    if not any(_as_magic(entry, magic, fetch_offset) for entry in newer):
        return b""
    return _as_magic(b"".join(entries), magic, fetch_offset)


def _fill(size_bytes: int) -> bytes:
    """Return the beginning of a message that does not end within the response."""
    begun = _FILL.pack(-1, max(size_bytes + 1, BATCH_HEADER_BYTES)) + bytes(size_bytes)
    return begun[:size_bytes]


def _as_magic(entries: bytes, magic: int, fetch_offset: int) -> bytes:
    return down_convert_run(entries, magic, fetch_offset, limit_bytes=_ALREADY_CHECKED_BYTES)


def _chunks(entries: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield groups of batches to convert together: up to 128 KiB, or one larger batch."""
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
