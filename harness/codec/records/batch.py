"""Record batches, magic 2 (KIP-98): the 61-byte header, records, whole batches.

Class DefaultRecordBatch in Apache Kafka. Every header field can be set to a wrong value on
purpose; what is left ``None`` is computed.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import NamedTuple

import google_crc32c

from harness.codec.records.columns import BadColumnRecord, Columns, read_columns
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, compress, decompress
from harness.codec.records.errors import CorruptMessageError, RecordsError
from harness.codec.records.record import Record, encode_records, encode_rows_as_records

BATCH_HEADER_BYTES = 61
LOG_OVERHEAD_BYTES = 12  # base offset and length, which the length does not count
CRC_START = 21  # the checksum covers everything from the attributes on
CODEC_MASK, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
_HEADER = struct.Struct(">qiibIhiqqqhii")
_LIMIT_BYTES = 256 * 1024 * 1024


class BatchHeader(NamedTuple):
    """The header's fields as they stand in the bytes."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @classmethod
    def read(cls, data: bytes, offset: int = 0) -> BatchHeader:
        """Raises RecordsError when fewer than 61 bytes are left."""
        if len(data) - offset < BATCH_HEADER_BYTES:
            raise RecordsError(f"a batch header at byte {offset} needs {BATCH_HEADER_BYTES} bytes")
        return cls._make(_HEADER.unpack_from(data, offset))

    @property
    def size_bytes(self) -> int:
        """The whole batch, its length field included."""
        return self.batch_length + LOG_OVERHEAD_BYTES

    @property
    def codec_id(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """A batch to be written, or one that was read."""

    records: Sequence[Record] = ()
    base_offset: int = 0
    partition_leader_epoch: int = -1
    magic: int = 2
    attributes: int = 0
    last_offset_delta: int | None = None
    base_timestamp: int = 0
    max_timestamp: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    record_count: int | None = None
    crc: int | None = field(default=None, compare=False)
    batch_length: int | None = field(default=None, compare=False)

    @property
    def compression(self) -> str:
        return CODEC_NAMES[self.attributes & CODEC_MASK]


def encode_batch(batch: RecordBatch, compression: str | None = None) -> bytes:
    """The bytes of a batch; ``compression`` by name overrides the codec bits of the attributes."""
    attributes = _with_codec(batch.attributes, compression)
    return encode_batch_around(replace(batch, attributes=attributes), encode_records(batch.records))


def encode_rows(
    rows: Sequence[tuple[int, bytes | None, bytes | None]],
    batch: RecordBatch | None = None,
    compression: str | None = None,
) -> bytes:
    """A batch of these (timestamp, key, value): quicker than making a Record of each.

    The first one's time is the base. ``batch``: the other fields of the header; its records are
    not looked at. Otherwise as :func:`encode_batch`.
    """
    given = batch or RecordBatch()
    times = [row[0] for row in rows]
    base_timestamp = times[0] if times else given.base_timestamp
    made = replace(
        given,
        records=(),
        attributes=_with_codec(given.attributes, compression),
        base_timestamp=base_timestamp,
        last_offset_delta=_or(given.last_offset_delta, len(times) - 1),
        max_timestamp=_or(given.max_timestamp, max(times, default=base_timestamp)),
        record_count=_or(given.record_count, len(times)),
    )
    return encode_batch_around(made, encode_rows_as_records(rows, base_timestamp))


def _with_codec(attributes: int, compression: str | None) -> int:
    return attributes if compression is None else attributes & ~CODEC_MASK | CODEC_IDS[compression]


def encode_batch_around(batch: RecordBatch, payload: bytes) -> bytes:
    """Return a batch around ``payload``, uncompressed bytes that need not be valid records."""
    count = len(batch.records)
    deltas = [record.timestamp_delta for record in batch.records]
    body = compress(batch.attributes & CODEC_MASK, payload) if payload else payload
    length = BATCH_HEADER_BYTES - LOG_OVERHEAD_BYTES + len(body)
    header = _HEADER.pack(
        batch.base_offset,
        _or(batch.batch_length, length),
        batch.partition_leader_epoch,
        batch.magic,
        0,
        batch.attributes,
        _or(batch.last_offset_delta, count - 1),
        batch.base_timestamp,
        _or(batch.max_timestamp, batch.base_timestamp + max(deltas, default=0)),
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        _or(batch.record_count, count),
    )
    crc = google_crc32c.extend(google_crc32c.value(header[CRC_START:]), body)
    crc_bytes = struct.pack(">I", _or(batch.crc, crc))
    return b"".join((header[: CRC_START - 4], crc_bytes, header[CRC_START:], body))


def _or(value: int | None, computed: int) -> int:
    return computed if value is None else value


def split_batches(data: bytes) -> list[tuple[BatchHeader, int]]:
    """(header, start) of every whole batch; a last one that is cut is left out."""
    found = []
    start = 0
    while start + BATCH_HEADER_BYTES <= len(data):
        header = BatchHeader.read(data, start)
        if header.batch_length < BATCH_HEADER_BYTES - LOG_OVERHEAD_BYTES:
            raise RecordsError(f"batch at byte {start}: impossible length {header.batch_length}")
        if start + header.size_bytes > len(data):
            break
        found.append((header, start))
        start += header.size_bytes
    return found


def decode_batches(data: bytes) -> list[RecordBatch]:
    """Every whole batch in ``data``, checksums verified. Raises RecordsError, CompressionError."""
    return [_decode_batch(data, header, start) for header, start in split_batches(data)]


def read_payload(data: bytes, header: BatchHeader, start: int, limit_bytes: int) -> bytes:
    """The records of the batch at ``start``, decompressed; its checksum is verified.

    Raises CorruptMessageError, and CompressionError when the bytes are broken or grow beyond
    ``limit_bytes``.
    """
    stop = start + header.size_bytes
    payload = bytes(data[start + BATCH_HEADER_BYTES : stop])
    crc = google_crc32c.value(bytes(data[start + CRC_START : start + BATCH_HEADER_BYTES]))
    crc = google_crc32c.extend(crc, payload)
    if crc != header.crc:
        raise CorruptMessageError(
            f"batch at byte {start}: checksum {header.crc:#x}, computed {crc:#x}", offset=start
        )
    if not payload and header.codec_id in CODEC_NAMES:
        return payload  # an empty batch is not compressed
    return decompress(header.codec_id, payload, limit_bytes)


def read_records_of(
    payload: bytes,
    header: BatchHeader,
    start: int,
    *,
    base_offset: int = 0,
    base_timestamp: int = 0,
    bad_utf8: str = "strict",
) -> Columns:
    """Return the records' columns, see :func:`read_columns`.

    Raises RecordsError for a bad record, and when the number differs from ``record_count``.
    """
    try:
        columns = read_columns(
            payload, base_offset=base_offset, base_timestamp=base_timestamp, bad_utf8=bad_utf8
        )
    except BadColumnRecord as error:
        path = f"records[{error.position}]"
        raise RecordsError(f"batch at byte {start}: {error}", offset=start, path=path) from error
    count, found = header.record_count, len(columns.values)
    if found != count:
        raise RecordsError(
            f"batch at byte {start}: {count} records promised, {found} found",
            offset=start,
            path="record_count",
        )
    return columns


def _decode_batch(data: bytes, header: BatchHeader, start: int) -> RecordBatch:
    if header.magic != 2:
        raise RecordsError(f"batch at byte {start}: magic {header.magic}, only 2 is read here")
    payload = read_payload(data, header, start, _LIMIT_BYTES)
    return RecordBatch(
        records=_records(read_records_of(payload, header, start)),
        base_offset=header.base_offset,
        partition_leader_epoch=header.partition_leader_epoch,
        attributes=header.attributes,
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        record_count=header.record_count,
        crc=header.crc,
        batch_length=header.batch_length,
    )


def _records(columns: Columns) -> tuple[Record, ...]:
    fields = (
        columns.values,
        columns.keys,
        columns.headers_of_all(),
        columns.timestamps,
        columns.offsets,
        columns.attributes_of_all(),
    )
    return tuple(starmap(Record, zip(*fields, strict=False)))  # headers may have no end
