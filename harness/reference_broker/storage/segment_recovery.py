"""The recovery of a segment: its bytes are checked, and its indexes rebuilt from the good ones.

Source: class LogSegment (recover).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import google_crc32c

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.data_framing.log_folder import LOG, TXN_INDEX
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs
from harness.reference_broker.state.log.stored_batch import MAGIC_OF_BATCHES
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.storage.batch_walk import BatchPlace, CorruptLength, place_of
from harness.reference_broker.storage.overflowed_segment import SegmentOverflow, has_overflow
from harness.reference_broker.storage.recovered_producers import RecoveredProducers
from harness.reference_broker.storage.stored_segment import StoredSegment

_WINDOW_BYTES = 1 << 19  # bytes that stay in the processor's cache until their checksum is made
_UP_TO_MAGIC_BYTES, _BATCH_HEADER_BYTES = 17, 61
_CRC, _MESSAGE_CRC_AT, _BATCH_CRC_AT, _BATCH_FROM = struct.Struct(">I"), 12, 17, 21


class OffsetOutsideSegment(ValueError):
    """A segment with an offset that does not belong into it: Kafka does not start with it."""


@dataclass(frozen=True, slots=True)
class RecoveredSegment:
    """The number of bytes that the recovery cut off the end."""

    cut_bytes: int


def recover(
    segment: StoredSegment,
    producers: ProducerStates,
    epochs: LeaderEpochs,
    interval_bytes: int,
) -> RecoveredSegment:
    """Recover a segment.

    ``producers``: those known at its base; the segment's batches update them. Raises OSError,
    EntriesOutOfOrder for offsets that do not rise, SegmentOverflow, OffsetOutsideSegment.
    """
    size = segment.size_bytes
    segment.offset_index.reset()
    segment.time_index.reset()
    if segment.path(TXN_INDEX).exists():
        segment.path(TXN_INDEX).write_bytes(b"")
    with segment.offset_index.gathered(), segment.time_index.gathered():
        told = RecoveredProducers(segment, producers)
        valid, newest, stranger = _look_through(segment, told, epochs, interval_bytes)
        told.finish()
    if stranger is not None:
        _refuse_stranger(segment, stranger)
    segment.note_found(valid, newest)
    segment.seal()
    return RecoveredSegment(size - valid)


def _look_through(
    segment: StoredSegment,
    producers: RecoveredProducers,
    epochs: LeaderEpochs,
    interval_bytes: int,
) -> tuple[int, BatchPlace | None, BatchPlace | None]:
    """Return the number of good bytes, the newest batch, and a stranger behind them.

    The newest batch is the good one with the largest timestamp; a stranger is one that does not
    belong into the segment.
    """
    valid, last_entry, latest = 0, 0, _latest(epochs)
    newest: BatchPlace | None = None
    offsets, times = segment.offset_index, segment.time_index
    for place, window, at in _valid_batches(segment):
        if not offsets.can_hold(place.last_offset):
            return valid, newest, place
        if newest is None or place.max_timestamp > newest.max_timestamp:
            newest = place
        if valid - last_entry > interval_bytes:
            offsets.add(place.last_offset, valid)
            times.add(newest.max_timestamp, newest.last_offset)
            last_entry = valid
        valid += place.size_bytes
        if place.magic > 1 and place.leader_epoch > latest:
            epochs.assign(LeaderEpoch(place.leader_epoch), Offset(place.base_offset))
            latest = _latest(epochs)
        if place.producer_id >= 0:
            producers.note(window, at, place.size_bytes)
    return valid, newest, None


def _refuse_stranger(segment: StoredSegment, place: BatchPlace) -> None:
    """Refuse a batch too far from the base; a segment that grew too far must be split.

    Raises SegmentOverflow, OffsetOutsideSegment.
    """
    if has_overflow(segment):
        raise SegmentOverflow(segment)
    raise OffsetOutsideSegment(f"{segment.path(LOG)}: offset {place.last_offset} in it")


def _latest(epochs: LeaderEpochs) -> int:
    return -1 if epochs.latest is None else epochs.latest


def _valid_batches(segment: StoredSegment) -> Iterator[tuple[BatchPlace, bytes, int]]:
    """Yield the batches up to the first that is not whole or has a wrong checksum.

    Each comes with the bytes that were read and its place in them.
    """
    end, position = segment.size_bytes, 0
    window, window_at = b"", 0
    while position + _UP_TO_MAGIC_BYTES < end:
        at = position - window_at
        if at + _BATCH_HEADER_BYTES > len(window) and window_at + len(window) < end:
            window, window_at, at = segment.read(position, _WINDOW_BYTES), position, 0
        try:
            place = place_of(window, at, position)
        except CorruptLength:
            return
        if position + place.size_bytes > end:
            return
        if at + place.size_bytes > len(window):
            wanted = max(place.size_bytes, _WINDOW_BYTES)
            window, window_at, at = segment.read(position, wanted), position, 0
        if not _is_valid(window, at, place):
            return
        yield place, window, at
        position += place.size_bytes


def _is_valid(data: bytes, at: int, place: BatchPlace) -> bool:
    end = at + place.size_bytes
    if place.magic < MAGIC_OF_BATCHES:
        (stored,) = _CRC.unpack_from(data, at + _MESSAGE_CRC_AT)
        return bool(stored == zlib.crc32(data[at + _MESSAGE_CRC_AT + _CRC.size : end]))
    if place.size_bytes < _BATCH_HEADER_BYTES:
        return False
    (stored,) = _CRC.unpack_from(data, at + _BATCH_CRC_AT)
    return bool(stored == google_crc32c.value(data[at + _BATCH_FROM : end]))
