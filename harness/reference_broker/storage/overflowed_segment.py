"""The split of a segment with offsets too far apart for its indexes (KAFKA-6264).

Brokers before 1.1.1 and 2.0 made such segments by compaction. Source: classes LogLoader
(retryOnOffsetOverflow) and LocalLog (splitOverflowedSegment).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from harness.codec.data_framing.log_folder import LOG
from harness.reference_broker.state.log.stored_batch import MAGIC_OF_BATCHES, stored_batches
from harness.reference_broker.storage.batch_walk import BatchPlace
from harness.reference_broker.storage.index_file import FARTHEST
from harness.reference_broker.storage.open_files import flush_folder, open_file, write_all
from harness.reference_broker.storage.stored_segment import (
    CLEANED,
    DELETED,
    SWAP,
    StoredSegment,
    file_name,
)

_LOG = logging.getLogger(__name__)
_AT_ONCE_BYTES = 1 << 20


class SegmentOverflow(Exception):
    """This segment must be split, then its log must be loaded again."""

    def __init__(self, segment: StoredSegment) -> None:
        super().__init__(str(segment.path(LOG)))
        self.segment = segment


def has_overflow(segment: StoredSegment) -> bool:
    """True if its last offset is too far from its base. Raises OSError, CorruptLength."""
    return segment.next_offset() - 1 - segment.base_offset > FARTHEST


def split(segment: StoredSegment) -> None:
    """Replace a segment by several, whole or not at all; the next loading makes their indexes.

    Each begins where its first batch does. Raises OSError, CodecError, and ValueError for a segment
    that ends within a batch: Kafka does not start with that either.
    """
    parts = list(_parts(segment))
    told = "%s: its offsets are too far apart, %d segments take its place"
    _LOG.warning(told, segment.path(LOG), len(parts))
    written = segment.path(LOG).stat()
    for base, begin, end in parts:
        path = segment.folder / (file_name(base, LOG) + CLEANED)
        _copy(segment, begin, end, path)
        os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
    names = [file_name(base, LOG) for base, _, _ in parts]
    for name in reversed(names):
        (segment.folder / (name + CLEANED)).rename(segment.folder / (name + SWAP))
    segment.rename(DELETED)
    for name in names:
        (segment.folder / (name + SWAP)).rename(segment.folder / name)
    flush_folder(segment.folder)
    segment.remove()


def _parts(segment: StoredSegment) -> Iterator[tuple[int, int, int]]:
    """Yield each part's first offset, and its begin and end in the file."""
    base: int | None = None
    begin = end = 0
    for place in segment.walk():
        if base is None or not 0 <= place.last_offset - base <= FARTHEST:
            if base is not None:
                yield base, begin, place.position
            base, begin = _first_offset(segment, place), place.position
        end = place.position + place.size_bytes
    if base is not None:
        yield base, begin, end
    if end < segment.size_bytes:
        raise ValueError(f"{segment.path(LOG)} is to be split, and ends within a batch")


def _first_offset(segment: StoredSegment, place: BatchPlace) -> int:
    """Return a batch's first offset; the header of an old compressed message has only the last."""
    if place.magic >= MAGIC_OF_BATCHES:
        return place.base_offset
    (batch,) = stored_batches(segment.read(place.position, place.size_bytes))
    return batch.base_offset


def _copy(segment: StoredSegment, begin: int, end: int, path: Path) -> None:
    descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        for at in range(begin, end, _AT_ONCE_BYTES):
            data = segment.read(at, min(_AT_ONCE_BYTES, end - at))
            write_all(descriptor, data, at - begin)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
