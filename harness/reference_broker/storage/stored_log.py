"""A partition's log in files, in Kafka's own layout; appended batches are in the page cache.

Memory holds only the places of the segments. Source: classes UnifiedLog and LocalLog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.ids import Offset, TimeMs
from harness.codec.data_framing.log_folder import TXN_INDEX
from harness.reference_broker.file_part import LEAST_BYTES
from harness.reference_broker.state.log.segments import Segments
from harness.reference_broker.state.log.stored_batch import StoredBatch, replay
from harness.reference_broker.storage.aborted_files import read_aborted
from harness.reference_broker.storage.batch_walk import BatchPlace
from harness.reference_broker.storage.guarded import guarded, guarded_steps
from harness.reference_broker.storage.open_files import OpenFiles, flush_folder
from harness.reference_broker.storage.producer_files import ProducerFiles
from harness.reference_broker.storage.stored_compaction import StoredCompaction
from harness.reference_broker.storage.stored_segment import DELETED, StoredSegment

if TYPE_CHECKING:
    from harness.codec.borrowed_buffer import BorrowedBuffer
    from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
    from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
    from harness.reference_broker.state.producers.producer_states import ProducerStates
    from harness.reference_broker.storage.epoch_file import EpochFile

_NEVER_MS = 2**63 - 1


@dataclass(slots=True)
class Surroundings:
    """The functions and files that a log shares with the others of its folder.

    ``failed`` takes the folder offline for an error, and ``has_failed`` returns True then.
    ``remove_later`` removes a segment when no reader needs it any more. ``flush_later`` flushes one
    soon, and calls the second argument then.
    """

    files: OpenFiles
    has_failed: Callable[[], bool]
    failed: Callable[[OSError], None]
    remove_later: Callable[[StoredSegment], None]
    flush_later: Callable[[StoredSegment, Callable[[], None]], None]


class StoredLog:
    """See :class:`Log`. `recovery_point`: everything below it is on the disk."""

    is_kept = True

    def __init__(
        self,
        folder: Path,
        around: Surroundings,
        segments: Sequence[StoredSegment],
        producers: ProducerStates,
        index_bytes: int,
        epochs: EpochFile | None = None,
    ) -> None:
        self.folder, self._around, self._index_bytes = folder, around, index_bytes
        self.segments: Segments[StoredSegment] = Segments(segments)
        self.start_offset = self.end_offset = self.recovery_point = Offset(0)
        self.high_watermark = self.first_dirty = Offset(0)
        self._flush_ms, self._flushed_at = _NEVER_MS, TimeMs(0)
        self._asked = Offset(0)  # to flush all below it
        self._producers, self._snapshots = producers, ProducerFiles(folder)
        self._epochs = epochs

    @property
    def noted_start(self) -> Offset | None:
        """The log's start, or None if that is the base of the first segment."""
        first = self.segments.all()[0].base_offset
        return self.start_offset if self.start_offset > first else None

    @property
    def is_offline(self) -> bool:
        """True if its folder has failed."""
        return self._around.has_failed()

    def fail(self, error: OSError) -> None:
        """Take its folder offline, with all logs in it."""
        self._around.failed(error)

    def note_offsets(self, high_watermark: Offset, first_dirty: Offset) -> None:
        self.high_watermark, self.first_dirty = high_watermark, first_dirty

    @property
    def size_bytes(self) -> int:
        """The size of all its segments."""
        return self.segments.size_bytes

    # -- growing ---------------------------------------------------------------------------------

    @guarded
    def append(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        """Append a batch. Raises OSError: then nothing of it is in the log."""
        active = self.segments.active
        if active.is_full(batch, config, now) or not active.can_take(batch):
            active = self._roll(now)
        if self._epochs is not None and not self._epochs.has_last:
            self._epochs.write(Offset(batch.last_offset + 1))
        active.append(batch, config.index_interval_bytes, now)
        self.end_offset = Offset(batch.last_offset + 1)
        self._flush_ms = config.flush_ms
        if self.end_offset - self.recovery_point >= config.flush_messages:
            self.flush()

    def _roll(self, now: TimeMs) -> StoredSegment:
        """Begin a new segment, and flush the one before soon."""
        before = self.segments.active
        before.seal()
        begun = self._new_segment(self.end_offset, now)
        self._snapshots.write(self.end_offset, self._producers)
        self.segments.add(begun)
        self._flush_below(begun.base_offset)
        return begun

    def _flush_below(self, base: Offset) -> None:
        """Flush earlier segments soon; several after a crash (flushUptoOffsetExclusive)."""
        for one in self.segments.since(max(self.recovery_point, self._asked)):
            if one.base_offset < base:
                end = self.segments.end_of(one.base_offset) or base
                self._around.flush_later(one, lambda end=end: self._flushed(end))  # type: ignore[misc]
        self._asked = base

    def _new_segment(self, base: Offset, now: TimeMs) -> StoredSegment:
        made = StoredSegment(self._around.files, self.folder, base, self._index_bytes)
        made.begun_at = made.modified_at = now
        return made

    def note_epochs(self) -> None:
        """Write the leader epochs to the disk. Raises OSError."""
        if self._epochs is not None:
            self._epochs.write(self.end_offset)

    def _flushed(self, below: Offset) -> None:
        self.note_epochs()
        self.recovery_point = max(self.recovery_point, min(below, self.end_offset))

    def flush(self) -> None:
        """Flush the whole log to the disk. Raises OSError."""
        unflushed = self.segments.since(self.recovery_point)
        for segment in unflushed:
            segment.flush()
        if any(one.base_offset >= self.recovery_point for one in unflushed):
            flush_folder(self.folder)  # it is new, and so is its name (LocalLog.flush)
        self._flushed(self.end_offset)

    def flush_due(self, now: TimeMs) -> None:
        """Flush if that was not done for `flush.ms`, or the clock went back. Raises OSError."""
        if not 0 <= now - self._flushed_at < self._flush_ms:
            self._flushed_at = now
            if self.end_offset > self.recovery_point:
                self.flush()

    # -- losing ----------------------------------------------------------------------------------

    def delete_below(self, offset: Offset) -> None:
        """Move the log's start; a segment is removed when all of it is below."""
        self.start_offset = offset

    @guarded
    def drop_oldest(self, count: int, now: TimeMs) -> Offset:
        """Remove the oldest segments; return the base of the first one left, or of a new one."""
        segments = list(self.segments.all())
        if count == len(segments):
            segments.append(self._new_segment(self.end_offset, now))
        self.segments.put(segments[count:])
        self._snapshots.remove(segment.base_offset for segment in segments[:count])
        self._let_go(segments[:count])
        return self.segments.all()[0].base_offset

    def _let_go(self, segments: Sequence[StoredSegment]) -> None:
        """Rename segments now and remove them later, so that readers can finish."""
        for segment in segments:
            segment.rename(DELETED)
            self._around.remove_later(segment)

    @guarded
    def truncate_from(self, end: Offset) -> None:
        """Raises OSError."""
        segments = self.segments.all()
        kept = [one for one in segments if one.base_offset <= end] or [segments[0]]
        gone = segments[len(kept) :]
        self.segments.put(kept)
        for segment in gone:
            segment.remove()
        self._snapshots.remove(segment.base_offset for segment in gone)
        kept[-1].truncate_from(end, kept[-1].modified_at)
        self.end_offset = min(self.end_offset, max(end, self.start_offset))
        self.recovery_point = min(self.recovery_point, self.end_offset)
        self._asked = min(self._asked, self.end_offset)

    @guarded
    def restart_at(self, offset: Offset, now: TimeMs) -> None:
        """Raises OSError."""
        for segment in self.segments.all():
            segment.remove()
        self._snapshots.remove(self._snapshots.offsets())
        self.segments.put([self._new_segment(offset, now)])
        self.start_offset = self.end_offset = self.recovery_point = self._asked = offset

    def compaction(self) -> StoredCompaction:
        """Return a compaction, which writes beside the log."""
        return StoredCompaction(self, self._around.files, self._index_bytes)

    @guarded
    def replace(self, old: Sequence[StoredSegment], new: Sequence[StoredSegment]) -> None:
        """Replace the oldest segments by others, and remove the old ones later."""
        behind = self.segments.all()[len(old) :]
        self.segments.put([*new, *behind])
        bases = {segment.base_offset for segment in new}
        self._snapshots.remove(one.base_offset for one in old if one.base_offset not in bases)
        self._let_go(old)

    # -- producers -------------------------------------------------------------------------------

    @guarded
    def remember_producers(self, producers: ProducerStates, now: TimeMs) -> None:
        """Restore from the newest snapshot on. Source: ProducerStateManager (truncateAndReload)."""
        self._snapshots.remove_outside(self.start_offset, self.end_offset)
        known = self._snapshots.load(producers, self.start_offset, now)
        *before, last = [
            one for one in self.segments.since(known) if one.base_offset <= self.end_offset
        ]
        for segment in before:
            replay(producers, segment.bytes_of_batches(max(known, segment.base_offset)))
        begin = max(known, last.base_offset)
        replay(producers, last.bytes_of_batches(begin, self.end_offset))
        if known < self.end_offset or known == self.start_offset:  # else the snapshot is there
            self.note_producers()

    @guarded
    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Add to the transaction index of the segment with the marker. Raises OSError."""
        self.segments.active.note_aborted(aborted)

    @guarded
    def aborted_in(self, offset: Offset, size_bytes: int) -> list[AbortedTransaction]:
        """Return the aborted transactions in a read. Source: LocalLog (addAbortedTransactions)."""
        read = self._first_at(offset)
        if read is None:
            return []
        segment, first = read
        end = self._end_of_read(segment, first.position + size_bytes)
        return _aborted_in(self.segments.since(segment.base_offset), offset, end)

    @guarded
    def aborted_between(self, begin: Offset, end: Offset) -> list[AbortedTransaction]:
        """Return those of an offset range. Source: UnifiedLog (collectAbortedTransactions)."""
        return _aborted_in(self.segments.since(begin), begin, end)

    def _end_of_read(self, segment: StoredSegment, position: int) -> Offset:
        """Return an offset above all read records, as near as the offset index allows."""
        above = segment.offset_index.offset_above(position)
        following = self.segments.end_of(segment.base_offset)
        behind = self.end_offset if following is None else following
        return behind if above is None else Offset(above)

    def _first_at(self, offset: Offset) -> tuple[StoredSegment, BatchPlace] | None:
        """Return the first batch of a `read`, and its segment; None if there is none."""
        for segment in self.segments.since(offset):
            first = segment.find(offset)
            if first is not None:
                return segment, first
        return None

    @guarded
    def batch_begin(self, offset: Offset) -> Offset:
        """Raises OSError, CorruptBatch. Source: LocalLog (convertToOffsetMetadataOrThrow)."""
        read = self._first_at(offset)
        return self.end_offset if read is None else Offset(read[1].base_offset)

    def note_producers(self, *, durably: bool = False) -> None:
        """Write a snapshot of the producers, so that a start need not read the last segment."""
        self._snapshots.write(self.end_offset, self._producers, durably=durably)

    # -- reading ---------------------------------------------------------------------------------

    @guarded_steps
    def between(self, begin: Offset, end: Offset) -> Iterator[StoredBatch]:
        """Yield batches, read one by one. Raises OSError."""
        for segment in self.segments.since(begin):
            if segment.base_offset >= end:
                return
            for batch in segment.batches(begin):
                if batch.base_offset >= end or batch.last_offset >= end:
                    return
                yield batch

    @guarded
    def segment_end(self, offset: Offset) -> Offset | None:
        """Return the end of the segment with the first batch at `offset`; None for the last one."""
        for segment in self.segments.since(offset):
            following = self.segments.end_of(segment.base_offset)
            if following is None or segment.find(offset) is not None:
                return following
        return None

    @guarded
    def read(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes:
        """Return the bytes as they are in the file, of one segment. Raises OSError."""
        found = self._place_to_read(offset, limit_bytes, at_least_one, stop)
        return b"" if found is None else found[0].read(found[1].position, found[2])

    @guarded
    def borrow(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes | BorrowedBuffer:
        """Return the same bytes; many of them as a borrowed part of the file. Raises OSError."""
        found = self._place_to_read(offset, limit_bytes, at_least_one, stop)
        if found is None:
            return b""
        segment, first, size = found
        if size < max(LEAST_BYTES, first.size_bytes):
            return segment.read(first.position, size)
        borrowed = segment.borrow(first.position, size)
        borrowed.on_error = self.fail
        return borrowed

    def _place_to_read(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None
    ) -> tuple[StoredSegment, BatchPlace, int] | None:
        """Return the segment, the first batch, and the number of bytes from there on."""
        found = self._first_at(offset)
        if found is None:
            return None
        segment, first = found
        size = max(limit_bytes, first.size_bytes) if at_least_one else limit_bytes
        end = segment.size_bytes
        following = self.segments.end_of(segment.base_offset)
        if stop is not None and (following is None or stop < following):
            behind = segment.find(stop)
            end = end if behind is None else behind.position
        return segment, first, max(min(size, end - first.position), 0)

    @guarded_steps
    def batches_reaching(self, timestamp: int) -> Iterator[StoredBatch]:
        """Yield batches of the first segment that may have some. Raises OSError.

        Source: UnifiedLog (fetchOffsetByTimestamp).
        """
        for segment in self.segments.all():
            if segment.largest_timestamp >= timestamp:
                yield from segment.batches_reaching(timestamp)
                return

    @guarded
    def newest_batch(self) -> StoredBatch | None:
        """Return the newest batch by the time indexes. Raises OSError."""
        newest = max(self.segments.all(), key=lambda segment: segment.max_timestamp)
        return newest.newest_batch()

    # -- the end ---------------------------------------------------------------------------------

    def moved_to(self, folder: Path) -> None:
        """Use the log's new folder; none of its files is open.

        A flush in progress may miss files under their old name: it is asked for again.
        """
        self.folder, self._snapshots = folder, ProducerFiles(folder)
        self._asked = self.recovery_point
        if self._epochs is not None:
            self._epochs.moved_to(folder)
        for segment in self.segments.all():
            segment.moved_to(folder)

    def leave(self) -> None:
        """Detach a deleted log: a file that a reader misses is no failure of the folder."""
        self._around.failed, self._epochs = lambda _error: None, None

    def close(self) -> None:
        """Flush everything, so that the next start need not recover the log. Raises OSError."""
        self.segments.active.seal()
        self.flush()
        # After a clean end, a start takes a log without a snapshot as a log without producers.
        self.note_producers(durably=True)


def _aborted_in(
    segments: Sequence[StoredSegment], begin: Offset, end: Offset
) -> list[AbortedTransaction]:
    found: list[AbortedTransaction] = []
    for segment in segments:
        for one in read_aborted(segment.path(TXN_INDEX)):
            if one.last_offset >= begin and one.first_offset < end:
                found.append(one)
            if one.last_stable_offset >= end:
                return found
    return found
