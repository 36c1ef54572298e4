"""Fields of a v2 record batch that the broker reads or overwrites in place.

Positions: PROTOCOL layout of the 61 bytes in front of the records; the checksum covers
everything from the attributes on.
"""

import struct
from dataclasses import dataclass

import google_crc32c

OFFSET_AND_LENGTH_BYTES = 12
UP_TO_MAGIC_BYTES = 17
BATCH_OVERHEAD_BYTES = 61
SMALLEST_LEGACY_MESSAGE_BYTES = 14
_MAGIC_AT = 16
_ATTRIBUTES_AT = 21

TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40
CODEC_MASK = 0x07
_DEFINED_BITS = 0x7F

_HEADER = struct.Struct(">qiibIhiqqqhii")


class CorruptBatch(ValueError):
    """The bytes cannot be taken for a batch at all."""


def next_batch_size(records: bytes, position: int) -> int | None:
    """The size in bytes of the batch at `position`, None when no whole batch follows.

    Raises CorruptBatch for a length or magic that no batch has (ByteBufferLogInputStream).
    """
    remaining = len(records) - position
    if remaining < OFFSET_AND_LENGTH_BYTES:
        return None
    (length,) = struct.unpack_from(">i", records, position + 8)
    if length < SMALLEST_LEGACY_MESSAGE_BYTES:
        raise CorruptBatch(f"batch length {length} is below that of the smallest message")
    if remaining < UP_TO_MAGIC_BYTES:
        return None
    magic = struct.unpack_from(">b", records, position + _MAGIC_AT)[0]
    if not 0 <= magic <= 2:
        raise CorruptBatch(f"there is no record format with magic {magic}")
    size: int = length + OFFSET_AND_LENGTH_BYTES
    return size if remaining >= size else None


def magic_of(records: bytes) -> int:
    """The format of the first batch."""
    return records[_MAGIC_AT]


def codec_of(records: bytes) -> int:
    """The codec bits of the first batch, which is of format 2."""
    return records[_ATTRIBUTES_AT + 1] & CODEC_MASK


def base_offset_of(records: bytes) -> int:
    """The base offset of the first batch."""
    return int(struct.unpack_from(">q", records)[0])


@dataclass(frozen=True, slots=True)
class BatchFields:
    """The header of one v2 batch."""

    base_offset: int
    length: int
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
    def of(cls, batch: bytes) -> "BatchFields":
        """Read the header of `batch`, which has at least BATCH_OVERHEAD_BYTES."""
        return cls(*_HEADER.unpack_from(batch))

    @property
    def codec(self) -> int:
        """How the records are compressed; 0 is not at all."""
        return self.attributes & CODEC_MASK

    @property
    def has_log_append_time(self) -> bool:
        """Whether all records have the batch's max timestamp."""
        return bool(self.attributes & TIMESTAMP_TYPE_BIT)

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        """Whether the batch holds a marker and no data."""
        return bool(self.attributes & CONTROL_BIT)


def checksum_is_right(batch: bytes) -> bool:
    """Whether the batch is long enough for its header and its checksum fits."""
    if len(batch) < BATCH_OVERHEAD_BYTES:
        return False
    (stored,) = struct.unpack_from(">I", batch, 17)
    return bool(google_crc32c.value(batch[_ATTRIBUTES_AT:]) == stored)


def with_broker_fields(
    batch: bytes, base_offset: int, leader_epoch: int, attributes: int, max_timestamp: int
) -> bytes:
    """The batch as the leader stores it. The checksum is made anew only when it has to be."""
    fields = BatchFields.of(batch)
    stored = bytearray(batch)
    struct.pack_into(">q", stored, 0, base_offset)
    struct.pack_into(">i", stored, 12, leader_epoch)
    if attributes != fields.attributes or max_timestamp != fields.max_timestamp:
        struct.pack_into(">h", stored, _ATTRIBUTES_AT, attributes)
        struct.pack_into(">q", stored, 35, max_timestamp)
        struct.pack_into(">I", stored, 17, google_crc32c.value(bytes(stored[_ATTRIBUTES_AT:])))
    return bytes(stored)


def attributes_with_timestamp_type(attributes: int, log_append_time: bool) -> int:
    """The attributes with the topic's timestamp type. Bits without a meaning are dropped."""
    defined = attributes & _DEFINED_BITS & ~TIMESTAMP_TYPE_BIT
    return defined | (TIMESTAMP_TYPE_BIT if log_append_time else 0)
