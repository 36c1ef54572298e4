"""A walk from batch to batch in a segment's file by their headers alone.

Source: class FileLogInputStream: bytes that do not look like a whole batch end the walk.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from harness.reference_broker.state.log.batch_bytes import CorruptBatch
from harness.reference_broker.state.log.stored_batch import MAGIC_OF_BATCHES

_START = struct.Struct(">qiib")  # offset, length, (epoch or checksum), magic: alike in all formats
_BATCH = struct.Struct(">qiibIhiqqq")  # the same, and on to the producer id
_TIME_OF_MESSAGE = struct.Struct(">q")
_OVERHEAD_BYTES, _UP_TO_MAGIC_BYTES, _SMALLEST_LENGTH = 12, 17, 14
_BATCH_HEADER_BYTES, _MESSAGE_TIME_AT = 61, 18
_HEAD_BYTES = _BATCH_HEADER_BYTES
_WINDOW_BYTES = 8_192
NO_TIMESTAMP = -1


class CorruptLength(CorruptBatch):
    """A length that is too small for a batch."""


class BatchPlace(NamedTuple):
    """A batch in a segment.

    `base_offset` is the one in its header: for a compressed message of an old format that is the
    last offset too.
    """

    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    leader_epoch: int
    magic: int
    producer_id: int = -1


def walk(read: Callable[[int, int], bytes], position: int, end: int) -> Iterator[BatchPlace]:
    """Yield all whole batches between two positions; a batch must begin at the first.

    ``read`` returns so many bytes from a position on, fewer at the end. Raises OSError,
    CorruptLength.
    """
    window, window_at = b"", position
    while position + _UP_TO_MAGIC_BYTES < end:
        at = position - window_at
        if at + _HEAD_BYTES > len(window):
            window, window_at, at = read(_WINDOW_BYTES, position), position, 0
            if len(window) < _UP_TO_MAGIC_BYTES:
                return
        found = place_of(window, at, position)
        if position + found.size_bytes > end:
            return
        yield found
        position += found.size_bytes


def place_of(data: bytes, at: int, position: int) -> BatchPlace:
    """Return the batch with its header at a place of `data`. Raises CorruptLength."""
    if at + _BATCH_HEADER_BYTES <= len(data):
        found = _BATCH.unpack_from(data, at)
        offset, length, epoch, magic, _, _, delta, _, newest, producer_id = found
        if magic >= MAGIC_OF_BATCHES and length >= _SMALLEST_LENGTH:
            size, last = length + _OVERHEAD_BYTES, offset + delta
            return BatchPlace(position, size, offset, last, newest, epoch, magic, producer_id)
    return _place_of_other(data, at, position)


def _place_of_other(data: bytes, at: int, position: int) -> BatchPlace:
    """Return a message of an old format, or a batch with an incomplete header."""
    offset, length, epoch, magic = _START.unpack_from(data, at)
    if length < _SMALLEST_LENGTH:
        raise CorruptLength(f"length {length} at byte {position}")
    size = length + _OVERHEAD_BYTES
    if magic < MAGIC_OF_BATCHES:
        has_time = magic == 1 and at + _MESSAGE_TIME_AT + _TIME_OF_MESSAGE.size <= len(data)
        timestamp = (
            _TIME_OF_MESSAGE.unpack_from(data, at + _MESSAGE_TIME_AT)[0]
            if has_time
            else NO_TIMESTAMP
        )
        return BatchPlace(position, size, offset, offset, timestamp, -1, magic)
    return BatchPlace(position, size, offset, offset, NO_TIMESTAMP, epoch, magic)
