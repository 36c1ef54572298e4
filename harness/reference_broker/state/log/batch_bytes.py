"""Division of a client's record bytes into batches, and the batch fields that the broker writes.

Source: classes ByteBufferLogInputStream and DefaultRecordBatch.
"""

import struct

import google_crc32c

from harness.codec.records import (
    BATCH_HEADER_BYTES,
    CODEC_MASK,
    LOG_APPEND_TIME,
    LOG_OVERHEAD_BYTES,
    TRANSACTIONAL,
    BatchHeader,
)

_UP_TO_MAGIC_BYTES = 17
_SMALLEST_LENGTH = 14  # of an empty message of format 0
_MAGIC_AT = 16
_CRC_AT = 17
_ATTRIBUTES_AT = 21
_ATTRIBUTES_OF_MESSAGE_AT = 17
_MAX_TIMESTAMP_AT = 35
_DEFINED_BITS = 0x7F
_OFFSET, _EPOCH = struct.Struct(">q"), struct.Struct(">i")


class CorruptBatch(ValueError):
    """Bytes that cannot be read as a batch at all."""


class UnforeseenBytes(ValueError):
    """Bytes in a message of format 0 or 1 that Kafka does not handle (UNKNOWN_SERVER_ERROR)."""


class InvalidMessage(ValueError):
    """An invalid message of format 0 or 1 (INVALID_RECORD)."""


class NoSuchPosition(ValueError):
    """A damaged index: it points to a position before the beginning of its segment."""


def next_batch_size(records: bytes, position: int) -> int | None:
    """Return the size in bytes of the batch at `position`; None if no whole batch follows.

    Raises CorruptBatch for a length or magic that no batch has.
    """
    size = stored_size(records, position)
    if len(records) - position >= _UP_TO_MAGIC_BYTES:
        (magic,) = struct.unpack_from(">b", records, position + _MAGIC_AT)
        if not 0 <= magic <= 2:
            raise CorruptBatch(f"there is no record format with magic {magic}")
    return size


def stored_size(records: bytes, position: int) -> int | None:
    """Return the size as `next_batch_size`, for bytes of a log: without a check of the magic.

    No checksum covers the magic. Source: class FileLogInputStream. Raises CorruptBatch for a length
    that no batch has.
    """
    remaining = len(records) - position
    if remaining < LOG_OVERHEAD_BYTES:
        return None
    (length,) = struct.unpack_from(">i", records, position + 8)
    if length < _SMALLEST_LENGTH:
        raise CorruptBatch(f"batch length {length} is below that of the smallest message")
    if remaining < _UP_TO_MAGIC_BYTES:
        return None
    size: int = length + LOG_OVERHEAD_BYTES
    return size if remaining >= size else None


def claimed_size(records: bytes) -> int:
    """Return the size of the first batch according to its header.

    It is larger than `records` if the batch is cut.
    """
    if len(records) < LOG_OVERHEAD_BYTES:
        return LOG_OVERHEAD_BYTES
    (length,) = struct.unpack_from(">i", records, 8)
    return LOG_OVERHEAD_BYTES + int(length)


def magic_of(records: bytes) -> int:
    """Return the format of the first batch; for a damaged batch it may be below 0."""
    magic = records[_MAGIC_AT]
    return magic if magic < 0x80 else magic - 0x100


def codec_of(records: bytes) -> int:
    """Return the codec bits of the first batch, which has format 2."""
    return records[_ATTRIBUTES_AT + 1] & CODEC_MASK


def codec_of_message(message: bytes) -> int:
    """Return the codec bits of a message of format 0 or 1."""
    return message[_ATTRIBUTES_OF_MESSAGE_AT] & CODEC_MASK


def is_transactional(records: bytes) -> bool:
    """True if the first batch has a whole header of format 2 with the transactional bit."""
    is_batch = len(records) >= BATCH_HEADER_BYTES and records[_MAGIC_AT] == 2
    return is_batch and bool(records[_ATTRIBUTES_AT + 1] & TRANSACTIONAL)


def base_offset_of(records: bytes) -> int:
    """Return the base offset of the first batch."""
    return int(struct.unpack_from(">q", records)[0])


def checksum_is_right(batch: bytes) -> bool:
    """True if the batch has a whole header and its checksum matches."""
    if len(batch) < BATCH_HEADER_BYTES:
        return False
    (stored,) = struct.unpack_from(">I", batch, _CRC_AT)
    return bool(google_crc32c.value(batch[_ATTRIBUTES_AT:]) == stored)


def with_broker_fields(
    batch: bytes,
    header: BatchHeader,
    base_offset: int,
    leader_epoch: int,
    append_time: int | None,
    max_timestamp: int,
) -> bytes:
    """Return the batch, which has this header, as the leader stores it.

    The checksum does not cover the base offset and the leader epoch. It is computed again only when
    the timestamp type or the max timestamp changes; then undefined attribute bits are cleared.
    """
    had_append_time = bool(header.attributes & LOG_APPEND_TIME)
    log_append_time = append_time is not None
    rest = memoryview(batch)[_MAGIC_AT:]
    if had_append_time != log_append_time or header.max_timestamp != max_timestamp:
        rest = memoryview(_with_time(batch, header, log_append_time, max_timestamp))
    length = batch[8:LOG_OVERHEAD_BYTES]
    return b"".join((_OFFSET.pack(base_offset), length, _EPOCH.pack(leader_epoch), rest))


def _with_time(
    batch: bytes, header: BatchHeader, is_append_time: bool, max_timestamp: int
) -> bytes:
    """Return the changed batch from the magic on."""
    stored = bytearray(batch)
    attributes = header.attributes & _DEFINED_BITS & ~LOG_APPEND_TIME
    attributes |= LOG_APPEND_TIME if is_append_time else 0
    struct.pack_into(">h", stored, _ATTRIBUTES_AT, attributes)
    struct.pack_into(">q", stored, _MAX_TIMESTAMP_AT, max_timestamp)
    struct.pack_into(">I", stored, _CRC_AT, google_crc32c.value(bytes(stored[_ATTRIBUTES_AT:])))
    return bytes(stored[_MAGIC_AT:])
