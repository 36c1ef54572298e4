"""One batch of any format, and how it is read.

Classes DefaultRecordBatch and AbstractLegacyRecordBatch in Apache Kafka; which time a record has:
KIP-32 (the broker's clock) and KIP-534 (the delete horizon stands where the first time was).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness.codec.records.batch import (
    BATCH_HEADER_BYTES,
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    read_payload,
    read_records_of,
)
from harness.codec.records.columns import Columns
from harness.codec.records.compression import CODEC_NAMES, LimitError
from harness.codec.records.errors import CorruptMessageError
from harness.codec.records.log_records import LogRecords
from harness.codec.records.message_set import (
    ENTRY_OVERHEAD_BYTES,
    open_wrapper,
    read_message,
)

KNOWN_ATTRIBUTES = (CODEC_MASK, CODEC_MASK | LOG_APPEND_TIME, 0x7F)  # by magic
_INT64 = 1 << 63
_FAR = 1 << 62  # a base so far out that a delta may lead beyond 64 bits


@dataclass(slots=True, kw_only=True)
class LogBatch:
    """A batch with the fields of its header; those that a message set lacks are as Kafka says.

    ``position``: the byte where it begins. ``base_offset``: in a compressed message set that of
    the first message inside. ``last_offset_delta``: to the offset of the batch's end, or of the
    wrapper. ``attributes``: all bits, also those without meaning. ``max_timestamp``: in a message
    set the time of the (outer) message. ``record_timestamps``: where the broker's clock counts, the
    times that the records still carry themselves; None elsewhere.
    """

    position: int
    size_bytes: int
    magic: int
    base_offset: int
    attributes: int
    crc: int
    records: LogRecords
    max_timestamp: int
    base_timestamp: int
    last_offset_delta: int = 0
    partition_leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    record_timestamps: list[int] | None = None

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> str:
        return CODEC_NAMES[self.attributes & CODEC_MASK]

    @property
    def timestamp_type(self) -> str:
        """``NoTimestampType``, ``CreateTime`` or ``LogAppendTime``."""
        return timestamp_type_of(self.magic, self.attributes)

    @property
    def is_transactional(self) -> bool:
        return self.magic > 1 and bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return self.magic > 1 and bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the tombstones and markers of the batch may go (KIP-534), None when not set."""
        if self.magic > 1 and self.attributes & DELETE_HORIZON:
            return self.base_timestamp
        return None

    @property
    def unused_attributes(self) -> int:
        """The bits without meaning in this format, where they stand."""
        width = 0xFFFF if self.magic > 1 else 0xFF
        return self.attributes & width & ~KNOWN_ATTRIBUTES[self.magic]


def timestamp_type_of(magic: int, attributes: int) -> str:
    """Return Kafka's name for the clock that set the timestamp of a batch or message."""
    if magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime"


def read_batch(data: bytes, position: int, limit_bytes: int) -> tuple[LogBatch, int]:
    """(batch, bytes of its records) of magic 2. Raises RecordsError, CompressionError."""
    header = BatchHeader.read(data, position)
    if header.size_bytes < BATCH_HEADER_BYTES:
        raise CorruptMessageError(
            f"batch at byte {position}: impossible length {header.batch_length}", offset=position
        )
    payload = read_payload(data, header, position, limit_bytes)
    columns = read_records_of(
        payload,
        header,
        position,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
        bad_utf8="surrogateescape",
    )
    _wrap(columns, header)
    record_timestamps = None
    if header.attributes & LOG_APPEND_TIME:
        record_timestamps = columns.timestamps
        columns.timestamps = [header.max_timestamp] * len(columns.values)
    batch = LogBatch(
        position=position,
        size_bytes=header.size_bytes,
        magic=header.magic,
        base_offset=header.base_offset,
        attributes=header.attributes,
        crc=header.crc,
        records=LogRecords(columns, timestamp_type_of(header.magic, header.attributes)),
        max_timestamp=header.max_timestamp,
        base_timestamp=header.base_timestamp,
        last_offset_delta=header.last_offset_delta,
        partition_leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        record_timestamps=record_timestamps,
    )
    return batch, len(payload)


def _wrap(columns: Columns, header: BatchHeader) -> None:
    """Sums beyond 64 bits begin again at the other end, as Java's do."""
    if columns.has_wide_deltas or not -_FAR < header.base_timestamp < _FAR:
        columns.timestamps = [wrapped(number) for number in columns.timestamps]
    if not -_FAR < header.base_offset < _FAR:
        columns.offsets = [wrapped(number) for number in columns.offsets]


def wrapped(number: int) -> int:
    """The number as 64 bits with sign hold it."""
    return (number + _INT64) % (2 * _INT64) - _INT64


def read_legacy(data: bytes, position: int, limit_bytes: int) -> tuple[LogBatch, int]:
    """(batch, bytes of its messages) of one message of magic 0 or 1, which may be a wrapper.

    Raises RecordsError, CompressionError.
    """
    (length,) = struct.unpack_from(">i", data, position + 8)
    stop = position + ENTRY_OVERHEAD_BYTES + length
    outer = read_message(data, position, stop)
    inner, used_bytes = [outer], stop - position
    if outer.codec_id:
        inner = open_wrapper(outer, limit_bytes)
        used_bytes = sum(ENTRY_OVERHEAD_BYTES + (message.length or 0) for message in inner)
    elif used_bytes > limit_bytes:
        raise LimitError(f"message at byte {position}: more than {limit_bytes} bytes")
    columns = Columns()
    columns.offsets = [message.offset for message in inner]
    columns.timestamps = [message.timestamp for message in inner]
    columns.keys = [message.key for message in inner]
    columns.values = [message.value for message in inner]
    batch = LogBatch(
        position=position,
        size_bytes=stop - position,
        magic=outer.magic,
        base_offset=inner[0].offset,
        attributes=outer.attributes,
        crc=outer.crc or 0,
        records=LogRecords(columns, timestamp_type_of(outer.magic, outer.attributes)),
        max_timestamp=outer.timestamp,
        base_timestamp=inner[0].timestamp,
        last_offset_delta=outer.offset - inner[0].offset,
    )
    return batch, used_bytes
