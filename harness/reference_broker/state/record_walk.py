"""Walking the records of a v2 batch over their bytes, without making objects of them.

Source: class org.apache.kafka.common.record.DefaultRecord and the record iterators of
DefaultRecordBatch: what they refuse is refused here.
"""

from collections.abc import Iterator
from typing import NamedTuple


class RecordStructureError(ValueError):
    """The bytes are not the records that the batch header announces."""


class WalkedRecord(NamedTuple):
    """What validation and lookups need of one record."""

    timestamp_delta: int
    offset_delta: int
    has_key: bool


def walk_records(payload: bytes | memoryview, count: int) -> Iterator[WalkedRecord]:
    """The `count` records in `payload`, which has to hold exactly them.

    Raises RecordStructureError as soon as the bytes say something else.
    """
    position, end = 0, len(payload)
    for _ in range(count):
        size, body = _read_varint(payload, position)
        position = body + size
        if size < 0 or position > end:
            raise RecordStructureError(f"a record of {size} bytes does not fit into its batch")
        try:
            timestamp_delta, at = _read_varint(payload, body + 1, 70)
            offset_delta, at = _read_varint(payload, at)
            key_length, at = _read_varint(payload, at)
            at = _skip_headers(payload, _skip_value(payload, at + max(key_length, 0)))
        except IndexError:
            raise RecordStructureError("a record ends before its last field") from None
        if at != position:
            raise RecordStructureError(
                f"a record of {size} bytes has fields of {at - body} bytes"
            )
        yield WalkedRecord(timestamp_delta, offset_delta, key_length >= 0)
    if position != end:
        raise RecordStructureError(f"{end - position} bytes follow the last of {count} records")


def _read_varint(payload: bytes | memoryview, at: int, bits: int = 35) -> tuple[int, int]:
    try:
        byte = payload[at]
        if byte < 0x80:  # most are of one byte
            return (byte >> 1) ^ -(byte & 1), at + 1
        raw, shift = byte & 0x7F, 7
        while True:
            at += 1
            byte = payload[at]
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift >= bits:
                raise RecordStructureError("a variable-length number has too many bytes")
    except IndexError:
        raise RecordStructureError("the batch ends inside a record") from None
    raw &= _MASKS[bits]
    return (raw >> 1) ^ -(raw & 1), at + 1


_MASKS = {35: 2**32 - 1, 70: 2**64 - 1}


def _skip_value(payload: bytes | memoryview, at: int) -> int:
    length, at = _read_varint(payload, at)
    return at + max(length, 0)


def _skip_headers(payload: bytes | memoryview, at: int) -> int:
    count, at = _read_varint(payload, at)
    if count < 0 or count > len(payload) - at:
        raise RecordStructureError(f"a record announces {count} headers")
    for _ in range(count):
        key_length, at = _read_varint(payload, at)
        if key_length < 0:
            raise RecordStructureError("a record header has no key")
        at = _skip_value(payload, at + key_length)
    return at
