"""One segment of a log in its files: batches, and the two indexes by which they are found.

Source: class LogSegment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from harness.base.ids import Offset, TimeMs
from harness.base.operating_system import read_at
from harness.codec.data_framing.log_folder import (
    INDEX,
    LOG,
    TIME_INDEX,
    TXN_INDEX,
)
from harness.reference_broker.file_part import FilePart
from harness.reference_broker.state.log.batch_bytes import NoSuchPosition, UnforeseenBytes
from harness.reference_broker.state.log.segments import Segment
from harness.reference_broker.state.log.stored_batch import (
    MAGIC_OF_BATCHES,
    StoredBatch,
    stored_batches,
)
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
from harness.reference_broker.storage.aborted_files import append_aborted, keep_aborted_below
from harness.reference_broker.storage.batch_walk import (
    NO_TIMESTAMP,
    BatchPlace,
    CorruptLength,
    walk,
)
from harness.reference_broker.storage.index_file import OffsetIndex, TimeIndex
from harness.reference_broker.storage.old_message import look_into
from harness.reference_broker.storage.open_files import OpenFiles, write_all

DELETED, CLEANED, SWAP = ".deleted", ".cleaned", ".swap"
_OF_SEGMENT = (LOG, INDEX, TIME_INDEX, TXN_INDEX)


def file_name(offset: int, kind: str) -> str:
    """Return a file's name: the offset in twenty digits, after a possible sign, and its kind."""
    sign = "-" if offset < 0 else ""
    return f"{sign}{abs(offset):020d}{kind}"


class StoredSegment(Segment):
    """Batches in a file; `suffix` ends the names while the segment is not (or no more) a log's."""

    __slots__ = (
        "_bytes_since_entry",
        "_files",
        "_is_removed",
        "_log_path",
        "_offset_of_newest",
        "folder",
        "offset_index",
        "suffix",
        "time_index",
    )

    def __init__(
        self,
        files: OpenFiles,
        folder: Path,
        base_offset: Offset,
        index_bytes: int,
        suffix: str = "",
    ) -> None:
        """Open the segment with the files that exist, unchanged. Raises OSError."""
        self._files, self.folder, self.suffix = files, folder, suffix
        self._is_removed = False
        self._log_path = folder / (file_name(base_offset, LOG) + suffix)
        size, modified_at = _told(self._log_path)
        super().__init__(base_offset, modified_at, modified_at, size)
        self.offset_index = OffsetIndex(files, self.path(INDEX), base_offset, index_bytes)
        self.time_index = TimeIndex(files, self.path(TIME_INDEX), base_offset, index_bytes)
        self._bytes_since_entry = 0
        self.max_timestamp, self._offset_of_newest = NO_TIMESTAMP, int(base_offset)
        if self.time_index.last is not None:
            self.max_timestamp = self.time_index.last[0]
            self._offset_of_newest = base_offset + self.time_index.last[1]
        if size:
            self.first_timestamp = self._time_of_first()

    def _time_of_first(self) -> int:
        """Return the time of the first batch; its readers report one that is damaged."""
        try:
            first = next(iter(self.walk()), None)
        except CorruptLength:
            return NO_TIMESTAMP
        return NO_TIMESTAMP if first is None else first.max_timestamp

    def path(self, kind: str) -> Path:
        """Return the path of one of its files, even if that does not exist."""
        return self.folder / (file_name(self.base_offset, kind) + self.suffix)

    @property
    def _descriptor(self) -> int:
        """The descriptor of the log file; its path is needed for every batch, so it is kept."""
        return self._files.descriptor(self._log_path)

    # -- writing ---------------------------------------------------------------------------------

    def can_take(self, batch: StoredBatch) -> bool:
        """True if the indexes have room for the batch."""
        is_near = self.offset_index.can_hold(batch.last_offset)
        return is_near and not self.offset_index.is_full and not self.time_index.is_full

    def append(self, batch: StoredBatch, interval_bytes: int, now: TimeMs) -> None:
        """Append a batch. Raises OSError: then nothing of the batch counts."""
        position = self.size_bytes
        write_all(self._descriptor, batch.data, position)
        if position == 0:
            self.begun_at = now
        if batch.max_timestamp > self.max_timestamp:
            self._offset_of_newest = int(batch.last_offset)
        self.take(batch)
        self.modified_at = now
        if self._bytes_since_entry > interval_bytes:
            self.offset_index.add(batch.last_offset, position)
            self.time_index.add(self.max_timestamp, self._offset_of_newest)
            self._bytes_since_entry = 0
        self._bytes_since_entry += len(batch.data)

    def seal(self) -> None:
        """End the segment, or the node: the time index gets its largest timestamp."""
        self.time_index.add(self.max_timestamp, self._offset_of_newest, even_when_full=True)
        self.offset_index.trim()
        self.time_index.trim()

    def flush(self) -> None:
        """Flush all files of the segment to the disk. Raises OSError."""
        os.fsync(self._descriptor)
        self.offset_index.flush()
        self.time_index.flush()
        if self.path(TXN_INDEX).exists():
            os.fsync(self._files.descriptor(self.path(TXN_INDEX)))

    def note_found(self, size_bytes: int, newest: BatchPlace | None) -> None:
        """Cut the segment to the valid bytes; `newest` has the largest timestamp of them."""
        os.ftruncate(self._descriptor, size_bytes)
        self.size_bytes, self._bytes_since_entry = size_bytes, 0
        self.max_timestamp = NO_TIMESTAMP if newest is None else newest.max_timestamp
        self._offset_of_newest = int(self.base_offset) if newest is None else newest.last_offset

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Add to the transaction index; the marker is in this segment. Raises OSError."""
        append_aborted(self._files, self.path(TXN_INDEX), aborted)

    def truncate_from(self, offset: Offset, now: TimeMs) -> None:
        """Remove the batch that contains `offset`, and all behind it. Raises OSError."""
        place = self.find(offset)
        keep_aborted_below(self.path(TXN_INDEX), offset)
        self.offset_index.cut_from(offset - self.base_offset)
        self.time_index.cut_from_offset(offset)
        if place is not None:
            os.ftruncate(self._descriptor, place.position)
            self.size_bytes = place.position
        if self.size_bytes == 0:
            self.begun_at = now
        self._bytes_since_entry = 0
        self._find_newest()

    def _find_newest(self) -> None:
        last = self.time_index.last or (NO_TIMESTAMP, 0)
        self.max_timestamp, self._offset_of_newest = last[0], self.base_offset + last[1]
        begin = max(self.offset_index.position_of(self._offset_of_newest), 0)
        for place in self.walk(begin):
            if place.max_timestamp > self.max_timestamp:
                self.max_timestamp = place.max_timestamp
                self._offset_of_newest = place.last_offset

    # -- reading ---------------------------------------------------------------------------------

    def walk(self, position: int = 0) -> Iterator[BatchPlace]:
        """Yield the batches from a position on.

        Raises OSError, CorruptLength, and NoSuchPosition for one that a damaged index contains.
        """
        if position < 0:
            raise NoSuchPosition(f"{self.path(LOG)}: position {position}")
        return walk(self._read, position, self.size_bytes)

    def _read(self, size_bytes: int, position: int) -> bytes:
        """Read from the file; a removed segment ends there, and the file is not created again."""
        return b"" if self._is_removed else read_at(self._descriptor, size_bytes, position)

    def find(self, offset: int) -> BatchPlace | None:
        """Return the batch with `offset`, or the next one.

        Where offsets do not rise, the last batch before a higher one counts. Source: class
        FileRecords (searchForOffsetFromPosition). Raises OSError, CorruptBatch, InvalidMessage,
        UnforeseenBytes.
        """
        before: BatchPlace | None = None
        for place in self.walk(max(self.offset_index.position_of(offset), 0)):
            if place.magic < MAGIC_OF_BATCHES:
                look_into(self.read(place.position, place.size_bytes), self._where(place))
            if place.base_offset >= offset:
                has_it = before is not None and before.last_offset >= offset
                return before if has_it and place.base_offset > offset else place
            before = place
        return before if before is not None and before.last_offset >= offset else None

    def _where(self, place: BatchPlace) -> str:
        """Return the place of a batch for a message."""
        return f"{self.path(LOG)}, byte {place.position}"

    def read(self, position: int, size_bytes: int) -> bytes:
        """Return so many bytes, or fewer at the end. Raises OSError."""
        return self._read(min(size_bytes, self.size_bytes - position), position)

    def borrow(self, position: int, size_bytes: int) -> FilePart:
        """Return existing bytes as a part of the file, to send immediately. Raises OSError."""
        return FilePart(lambda: self._descriptor, position, size_bytes)

    def batches(self, offset: int) -> Iterator[StoredBatch]:
        """Yield batches from the one with `offset` on, or the next one. Raises OSError."""
        for data in self.bytes_of_batches(offset):
            yield from stored_batches(data)

    def bytes_of_batches(self, offset: int, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes of each batch, up to the position of the batch with `stop`.

        That position may be anywhere in the file: a batch that reaches beyond it is not read. The
        batches are not decoded. Source: UnifiedLog (rebuildProducerState), class FileRecords
        (slice). Raises OSError.
        """
        first, behind = self.find(offset), None if stop is None else self.find(stop)
        end = self.size_bytes if behind is None else behind.position
        for place in () if first is None else walk(self._read, first.position, end):
            yield self.read(place.position, place.size_bytes)

    def batches_reaching(self, timestamp: int) -> Iterator[StoredBatch]:
        """Yield the batches with a record of that time or a later one.

        Raises OSError, NoSuchPosition, UnforeseenBytes.
        """
        offset = self.time_index.offset_of(timestamp)
        for place in self.walk(self.offset_index.position_of(offset)):
            if self._newest_in(place) >= timestamp:
                yield from stored_batches(self.read(place.position, place.size_bytes))

    def newest_batch(self) -> StoredBatch | None:
        """Return the first batch with the largest timestamp, by the time index.

        Raises OSError, NoSuchPosition, UnforeseenBytes.
        """
        for place in self.walk(self.offset_index.position_of(self._offset_of_newest)):
            if self._newest_in(place) == self.max_timestamp:
                batches = stored_batches(self.read(place.position, place.size_bytes))
                return next(iter(batches), None)
        return None

    def _newest_in(self, place: BatchPlace) -> int:
        """Return the largest timestamp of a batch. Raises UnforeseenBytes for an unknown magic.

        Kafka does not know the header size of such a message (LegacyRecord, headerSize).
        """
        if place.magic < 0:
            raise UnforeseenBytes(f"{self._where(place)}: there is no magic {place.magic}")
        return place.max_timestamp

    def next_offset(self) -> Offset:
        """Return the offset behind the last batch that the index leads to, or the base.

        Source: class LogSegment (readNextOffset). Raises OSError, CorruptLength.
        """
        first = self.find(self.offset_index.last_offset)
        last = self.base_offset - 1
        for place in () if first is None else self.walk(first.position):
            last = place.last_offset
        return Offset(last + 1)

    # -- the files -------------------------------------------------------------------------------

    def rename(self, suffix: str) -> None:
        """Rename all files to another suffix, the log, which counts, last. Raises OSError."""
        before = [self.path(kind) for kind in _OF_SEGMENT]
        self.suffix = suffix
        for kind, path in reversed(list(zip(_OF_SEGMENT, before, strict=True))):
            self._files.close(path)
            if path.exists():
                path.rename(self.path(kind))
        self.moved_to(self.folder)

    def moved_to(self, folder: Path) -> None:
        """Use the files in their new folder; none of them is open."""
        self.folder = folder
        self._log_path = self.path(LOG)
        self.offset_index.path, self.time_index.path = self.path(INDEX), self.path(TIME_INDEX)

    def remove(self) -> None:
        """Remove its files. Raises OSError."""
        self._is_removed = True
        for kind in _OF_SEGMENT:
            self._files.close(self.path(kind))
            self.path(kind).unlink(missing_ok=True)


def _told(path: Path) -> tuple[int, TimeMs]:
    """Return the size and the modification time; (0, 0) for a missing file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, TimeMs(0)
    return found.st_size, TimeMs(found.st_mtime_ns // 1_000_000)
