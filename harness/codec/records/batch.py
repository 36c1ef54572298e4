"""Record batches, magic 2 (KIP-98): the 61-byte header, records, whole batches.

Class DefaultRecordBatch in Apache Kafka. Every header field can be set to a wrong value on
purpose; what is left ``None`` is computed.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import google_crc32c

from harness.codec.errors import CodecError
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, compress, decompress
from harness.codec.varint import decode_varint, decode_varlong, encode_varlong

BATCH_HEADER_BYTES = 61
LOG_OVERHEAD_BYTES = 12  # base offset and length, which the length does not count
CRC_START = 21  # the checksum covers everything from the attributes on
CODEC_MASK, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
_HEADER = struct.Struct(">qiibIhiqqqhii")
_LIMIT_BYTES = 256 * 1024 * 1024


class RecordsError(CodecError):
    """Bytes that are no record batch; says at which offset."""


@dataclass(frozen=True, slots=True)
class Header:
    """A record header (KIP-82)."""

    key: str
    value: bytes | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One record; deltas are relative to the batch. ``offset_delta`` None: its position."""

    value: bytes | None = None
    key: bytes | None = None
    headers: Sequence[Header] = ()
    timestamp_delta: int = 0
    offset_delta: int | None = None
    attributes: int = 0


@dataclass(frozen=True, slots=True)
class BatchHeader:
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
        return cls(*_HEADER.unpack_from(data, offset))

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


def encode_record(record: Record, position: int) -> bytes:
    """One record with its length; ``position`` is its offset delta unless it names one."""
    delta = position if record.offset_delta is None else record.offset_delta
    body = bytearray(struct.pack(">b", record.attributes))
    body += encode_varlong(record.timestamp_delta) + encode_varlong(delta)
    body += _nullable(record.key) + _nullable(record.value)
    body += encode_varlong(len(record.headers))
    for header in record.headers:
        body += _nullable(header.key.encode()) + _nullable(header.value)
    return encode_varlong(len(body)) + bytes(body)


def _nullable(data: bytes | None) -> bytes:
    return b"\x01" if data is None else encode_varlong(len(data)) + data


def encode_batch(batch: RecordBatch, compression: str | None = None) -> bytes:
    """The bytes of a batch; ``compression`` by name overrides the codec bits of the attributes."""
    attributes = batch.attributes
    if compression is not None:
        attributes = attributes & ~CODEC_MASK | CODEC_IDS[compression]
    payload = b"".join(encode_record(r, i) for i, r in enumerate(batch.records))
    return encode_batch_around(replace(batch, attributes=attributes), payload)


def encode_batch_around(batch: RecordBatch, payload: bytes) -> bytes:
    """A batch whose records are ``payload``, uncompressed bytes that need not be valid records."""
    count = len(batch.records)
    deltas = [record.timestamp_delta for record in batch.records]
    body = compress(batch.attributes & CODEC_MASK, payload) if payload else payload
    length = BATCH_HEADER_BYTES - LOG_OVERHEAD_BYTES + len(body)
    made = bytearray(
        _HEADER.pack(
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
    )
    made += body
    crc = _or(batch.crc, google_crc32c.value(bytes(made[CRC_START:])))
    made[CRC_START - 4 : CRC_START] = struct.pack(">I", crc)
    return bytes(made)


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


def _decode_batch(data: bytes, header: BatchHeader, start: int) -> RecordBatch:
    if header.magic != 2:
        raise RecordsError(f"batch at byte {start}: magic {header.magic}, only 2 is read here")
    stop = start + header.size_bytes
    crc = google_crc32c.value(bytes(data[start + CRC_START : stop]))
    if crc != header.crc:
        raise RecordsError(f"batch at byte {start}: checksum {header.crc:#x}, computed {crc:#x}")
    payload = bytes(data[start + BATCH_HEADER_BYTES : stop])
    if payload:
        payload = decompress(header.codec_id, payload, _LIMIT_BYTES)
    return RecordBatch(
        records=_decode_records(payload, header.record_count, start),
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


def _decode_records(payload: bytes, count: int, start: int) -> tuple[Record, ...]:
    records = []
    offset = 0
    try:
        while offset < len(payload):
            record, offset = decode_record(payload, offset)
            records.append(record)
    except (IndexError, ValueError) as error:
        raise RecordsError(
            f"batch at byte {start}: record {len(records)} (byte {offset} of the records): {error}"
        ) from error
    if len(records) != count:
        raise RecordsError(f"batch at byte {start}: {count} records promised, {len(records)} found")
    return tuple(records)


def decode_record(data: bytes, offset: int) -> tuple[Record, int]:
    """(record, next offset). Raises IndexError or ValueError on bad bytes."""
    length, offset = decode_varint(data, offset)
    stop = offset + length
    if length < 0 or stop > len(data):
        raise ValueError(f"record length {length} with {len(data) - offset} bytes left")
    attributes = data[offset] - 256 if data[offset] > 127 else data[offset]
    timestamp_delta, offset = decode_varlong(data, offset + 1)
    offset_delta, offset = decode_varint(data, offset)
    key, offset = _read_nullable(data, offset, stop)
    value, offset = _read_nullable(data, offset, stop)
    count, offset = decode_varint(data, offset)
    if not 0 <= count <= stop - offset:
        raise ValueError(f"{count} headers with {stop - offset} bytes left")
    headers = []
    for _ in range(count):
        name, offset = _read_nullable(data, offset, stop)
        if name is None:
            raise ValueError("a header without key")
        header_value, offset = _read_nullable(data, offset, stop)
        headers.append(Header(name.decode(), header_value))
    if offset != stop:
        raise ValueError(f"record of {length} bytes ends {stop - offset} bytes off")
    return Record(value, key, tuple(headers), timestamp_delta, offset_delta, attributes), stop


def _read_nullable(data: bytes, offset: int, stop: int) -> tuple[bytes | None, int]:
    length, offset = decode_varint(data, offset)
    if length == -1:
        return None, offset
    if length < 0 or offset + length > stop:
        raise ValueError(f"length {length} with {stop - offset} bytes left in the record")
    return data[offset : offset + length], offset + length
