"""The batches of one partition, in memory, found by offset, size or time without reading them.

Compaction leaves gaps between batches: an offset in a gap is read from the next batch on.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

from harness.base.ids import Offset, TimeMs
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.segments import Segment, Segments
from harness.reference_broker.state.log.stored_batch import StoredBatch, remember_producers
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
from harness.reference_broker.state.producers.producer_states import ProducerStates

_LONG_AGO = TimeMs(0)


class PartitionLog:
    """A list of batches that grows at its end and loses its beginning. Owns both offsets.

    See :class:`Log`: the rules of a log in files apply here too.
    """

    __slots__ = (
        "_aborted",
        "_batches",
        "_deleted",
        "_emptied_at",
        "_end_positions",
        "_last_offsets",
        "_running_max",
        "end_offset",
        "segments",
        "start_offset",
    )

    is_kept = is_offline = False

    def __init__(self, made_at: TimeMs = _LONG_AGO) -> None:
        self._batches: list[StoredBatch] = []
        self._last_offsets: list[Offset] = []
        self._end_positions: list[int] = []  # bytes up to and including each batch
        self._emptied_at = 0  # where the next batch begins when there is none
        self._running_max: list[int] = []  # largest timestamp up to and including each batch
        self.start_offset = Offset(0)
        self.end_offset = Offset(0)
        self.segments: Segments[Segment] = Segments(made_at=made_at)
        self._aborted: list[AbortedTransaction] = []
        self._deleted: list[StoredBatch] = []  # of each segment the newest one below the log start

    def append(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        """Append the next batch, at the log end or, after a gap at the leader, behind it."""
        assert batch.base_offset >= self.end_offset
        self.segments.note(batch, config, now)
        self._batches.append(batch)
        self._last_offsets.append(batch.last_offset)
        self._end_positions.append(self._next_position + len(batch.data))
        before = self._running_max[-1] if self._running_max else batch.max_timestamp
        self._running_max.append(max(before, batch.max_timestamp))
        self.end_offset = Offset(batch.last_offset + 1)

    @property
    def _next_position(self) -> int:
        return self._end_positions[-1] if self._end_positions else self._emptied_at

    @property
    def size_bytes(self) -> int:
        """The size of all segments (Log.size). Deleted records count until their segment goes."""
        return self.segments.size_bytes

    def delete_below(self, offset: Offset) -> None:
        """Let the log start at `offset`, which lies between its start and its end.

        A batch goes when none of its records is left; until then readers get it whole.
        """
        self.start_offset = offset
        self._aborted = [one for one in self._aborted if one.last_offset >= offset]
        gone = self._first_reaching(offset)
        if gone == len(self._batches):
            self._emptied_at = self._next_position
        self._keep_newest(self._batches[:gone])
        for entries in (self._batches, self._last_offsets, self._end_positions):
            del entries[:gone]
        self._running_max = list(accumulate((b.max_timestamp for b in self._batches), max))

    def truncate_from(self, end: Offset) -> None:
        """Let the log end at `end`; a batch goes whole when its last record is not below it."""
        kept = self._first_reaching(end)
        if kept == 0:
            self._emptied_at = self._start_position(0) if self._batches else self._next_position
        for entries in (self._batches, self._last_offsets, self._end_positions, self._running_max):
            del entries[kept:]
        self.end_offset = min(self.end_offset, max(end, self.start_offset))
        self._aborted = [one for one in self._aborted if one.last_offset < end]
        self._deleted = [one for one in self._deleted if one.last_offset < end]
        self.segments.truncate_from(end, self.between(self.segments.base_of(end), end))

    def restart_at(self, offset: Offset, now: TimeMs) -> None:
        """Forget everything; the next batch begins at `offset`."""
        for entries in (self._batches, self._last_offsets, self._end_positions, self._running_max):
            entries.clear()
        self.start_offset = self.end_offset = offset
        self._emptied_at = 0
        self._aborted.clear()
        self._deleted.clear()
        self.segments.restart_at(offset, now)

    def drop_oldest(self, count: int, now: TimeMs) -> Offset:
        """Delete the first `count` segments; return the begin of the rest. The log start stays."""
        begin = self.segments.drop_oldest(count, self.end_offset, now)
        self._keep_newest(())
        return begin

    def _keep_newest(self, deleted: Sequence[StoredBatch]) -> None:
        """Keep of the deleted batches those that `newest_batch` may return.

        The first with the largest timestamp of each segment that is left is enough.
        """
        first, kept = self.segments.all()[0].base_offset, list[StoredBatch]()
        for batch in (*self._deleted, *deleted):
            if batch.base_offset < first:
                continue
            while kept and kept[-1].max_timestamp < batch.max_timestamp:
                kept.pop()
            begin = self.segments.base_of(batch.base_offset)
            if not kept or kept[-1].base_offset < begin:
                kept.append(batch)
        self._deleted = kept

    def between(self, begin: Offset, end: Offset) -> list[StoredBatch]:
        """Return the batches from the one that contains `begin`, or follows it, up to `end`."""
        return self._batches[self._first_reaching(begin) : self._first_reaching(end)]

    def compaction(self) -> "MemoryCompaction":
        """Return a writer of segments that replace the oldest ones, filled step by step."""
        return MemoryCompaction(self)

    def replace_below(
        self, end: Offset, batches: Sequence[StoredBatch], segments: Sequence[Segment]
    ) -> None:
        """Replace the batches that end before `end`; the log start stays."""
        left = [batch for batch in batches if batch.last_offset >= self.start_offset]
        self._batches[: self._first_reaching(end)] = left
        self._last_offsets = [batch.last_offset for batch in self._batches]
        self._end_positions = list(accumulate(len(batch.data) for batch in self._batches))
        self._running_max = list(accumulate((b.max_timestamp for b in self._batches), max))
        self.segments.replace_below(end, segments)

    def note_offsets(self, high_watermark: Offset, first_dirty: Offset) -> None:
        """Do nothing: no offset outlives the process."""

    def batch_begin(self, offset: Offset) -> Offset:
        """Return the base offset of the batch from which `read` begins, or `offset` if none."""
        first = self._first_reaching(offset)
        return self._batches[first].base_offset if first < len(self._batches) else offset

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Note an aborted transaction; the last batch is its marker."""
        self._aborted.append(aborted)

    def aborted_in(self, offset: Offset, size_bytes: int) -> list[AbortedTransaction]:
        """Return the aborted transactions in the `size_bytes` that were read from `offset` on."""
        first = self._first_reaching(offset)
        begin = self._start_position(first) if first < len(self._batches) else 0
        behind = bisect_left(self._end_positions, begin + size_bytes) + 1
        end = self.end_offset
        if behind < len(self._batches):
            end = self._batches[behind].base_offset
        return self.aborted_between(offset, end)

    def aborted_between(self, begin: Offset, end: Offset) -> list[AbortedTransaction]:
        """Return the aborted transactions that overlap with the range."""
        return [one for one in self._aborted if one.last_offset >= begin and one.first_offset < end]

    def remember_producers(self, producers: ProducerStates, now: TimeMs) -> None:  # noqa: ARG002
        """Restore the producers' states from the batches in the log."""
        remember_producers(producers, self._batches)

    def _first_reaching(self, offset: Offset) -> int:
        """Return the index of the batch that contains `offset` or, in a gap, follows it."""
        return bisect_left(self._last_offsets, offset)

    def _start_position(self, index: int) -> int:
        return self._end_positions[index] - len(self._batches[index].data)

    def segment_end(self, offset: Offset) -> Offset | None:
        """Return the end of the segment from which `read` begins; None for the last segment."""
        first = self._first_reaching(offset)
        is_there = first < len(self._batches)
        return self.segments.end_of(self._batches[first].base_offset if is_there else offset)

    def read(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes:
        """See :meth:`Log.read`."""
        behind = len(self._batches) if stop is None else self._first_reaching(stop)
        first = self._first_reaching(offset)
        if first >= behind:
            return b""
        begin = self._start_position(first)
        least_bytes = len(self._batches[first].data) if at_least_one else 0
        size = min(self._end_positions[behind - 1] - begin, max(limit_bytes, least_bytes))
        whole = max(first, bisect_right(self._end_positions, begin + size))
        pieces = [batch.data for batch in self._batches[first:whole]]
        whole_bytes = self._end_positions[whole - 1] - begin if whole > first else 0
        if (cut_bytes := size - whole_bytes) > 0:
            pieces.append(self._batches[whole].data[:cut_bytes])
        return b"".join(pieces)

    borrow = read

    def batches_reaching(self, timestamp: int) -> Iterator[StoredBatch]:
        """Return the batches with a record of `timestamp` or later, in order. In the first batch of
        the log that record may be below the log start."""
        first = bisect_left(self._running_max, timestamp)
        return (b for b in islice(self._batches, first, None) if b.max_timestamp >= timestamp)

    def newest_batch(self) -> StoredBatch | None:
        """See :meth:`Log.newest_batch`."""
        found = self._deleted[:1]  # their timestamps fall
        if self._running_max:
            found.append(self._batches[bisect_left(self._running_max, self._running_max[-1])])
        return max(found, key=lambda batch: batch.max_timestamp, default=None)


class MemoryCompaction:
    """The segments of one compaction pass, each with the remains of adjacent segments."""

    def __init__(self, log: PartitionLog) -> None:
        self._log = log
        self._batches: list[StoredBatch] = []
        self._segments: list[Segment] = []

    def begin_segment(self, group: Sequence[Segment]) -> None:
        """Begin a segment for the remains of `group`, with the write time of the last of them."""
        first, last = group[0], group[-1]
        self._segments.append(Segment(first.base_offset, first.begun_at, last.modified_at))

    def add(self, batch: StoredBatch) -> None:
        """Add the next remaining batch."""
        self._batches.append(batch)
        self._segments[-1].take(batch)

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Do nothing: the log remembers the transaction anyway."""

    def put_in_place(self, end: Offset) -> bool:
        """Replace all segments below `end`; False if nothing was changed."""
        self._log.replace_below(end, self._batches, self._segments)
        return True

    def abandon(self) -> None:
        """Do nothing: nothing was written."""
