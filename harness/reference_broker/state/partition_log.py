"""The batches of one partition, in memory, found by offset, size or time without reading them.

Compaction leaves gaps between them: what lies in one is read from the next batch on.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from harness.ids import LeaderEpoch, Offset
from harness.reference_broker.state.log_store import LogStore

NO_EPOCH = LeaderEpoch(-1)
"""Of messages, the formats before batches."""


class StoredBatch(NamedTuple):
    """One record batch exactly as readers get it, with the facts that lookups need."""

    base_offset: Offset
    last_offset: Offset
    leader_epoch: LeaderEpoch
    max_timestamp: int
    data: bytes


class PartitionLog:
    """A list of batches that grows at its end and loses its beginning. Owns both offsets.

    Where there is a `store`, it has the same batches, and those before the log's start.
    """

    __slots__ = (
        "_batches",
        "_emptied_at",
        "_end_positions",
        "_last_offsets",
        "_running_max",
        "end_offset",
        "start_offset",
        "store",
    )

    def __init__(self) -> None:
        self._batches: list[StoredBatch] = []
        self._last_offsets: list[Offset] = []
        self._end_positions: list[int] = []  # bytes up to and including each batch
        self._emptied_at = 0  # where the next batch begins when there is none
        self._running_max: list[int] = []  # largest timestamp up to and including each batch
        self.start_offset = Offset(0)
        self.end_offset = Offset(0)
        self.store: LogStore | None = None

    def append(self, batch: StoredBatch) -> None:
        """Take the next batch; it begins at the end, or behind it where a follower got no more."""
        assert batch.base_offset >= self.end_offset
        self._batches.append(batch)
        self._last_offsets.append(batch.last_offset)
        self._end_positions.append(self._next_position + len(batch.data))
        before = self._running_max[-1] if self._running_max else batch.max_timestamp
        self._running_max.append(max(before, batch.max_timestamp))
        self.end_offset = Offset(batch.last_offset + 1)
        if self.store is not None:
            self.store.append(batch.data)

    @property
    def _next_position(self) -> int:
        return self._end_positions[-1] if self._end_positions else self._emptied_at

    @property
    def size_bytes(self) -> int:
        """The size of all batches together."""
        return self._end_positions[-1] - self._start_position(0) if self._batches else 0

    def delete_below(self, offset: Offset) -> None:
        """Let the log start at `offset`, which lies between its start and its end.

        A batch goes when none of its records is left; until then readers get it whole.
        """
        self.start_offset = offset
        gone = self._first_reaching(offset)
        if gone == len(self._batches):
            self._emptied_at = self._next_position
        for entries in (self._batches, self._last_offsets, self._end_positions):
            del entries[:gone]
        self._running_max = list(accumulate((b.max_timestamp for b in self._batches), max))

    def truncate_from(self, end: Offset) -> None:
        """Let the log end at `end`; a batch goes whole when its last record is not below it."""
        kept = self._first_reaching(end)
        size_bytes = self._next_position
        if kept < len(self._batches):
            size_bytes = self._start_position(kept)
        if kept == 0:
            self._emptied_at = size_bytes
        for entries in (self._batches, self._last_offsets, self._end_positions, self._running_max):
            del entries[kept:]
        self.end_offset = min(self.end_offset, max(end, self.start_offset))
        if self.store is not None:
            self.store.truncate(size_bytes)

    def restart_at(self, offset: Offset) -> None:
        """Forget everything; the next batch begins at `offset`."""
        for entries in (self._batches, self._last_offsets, self._end_positions, self._running_max):
            entries.clear()
        self.start_offset = self.end_offset = offset
        self._emptied_at = 0
        if self.store is not None:
            self.store.rewrite(())

    def between(self, begin: Offset, end: Offset) -> list[StoredBatch]:
        """The batches from the one that contains `begin`, or follows it, up to `end`."""
        return self._batches[self._first_reaching(begin) : self._first_reaching(end)]

    def replace_below(self, end: Offset, batches: Sequence[StoredBatch]) -> None:
        """Put others in place of those that end before `end`; where the log starts stays."""
        self._batches[: self._first_reaching(end)] = batches
        self._last_offsets = [batch.last_offset for batch in self._batches]
        self._end_positions = list(accumulate(len(batch.data) for batch in self._batches))
        self._running_max = list(accumulate((b.max_timestamp for b in self._batches), max))
        if self.store is not None:
            self.store.rewrite(self._batches)

    def _first_reaching(self, offset: Offset) -> int:
        """The index of the batch that contains `offset` or, in a gap, follows it."""
        return bisect_left(self._last_offsets, offset)

    def _start_position(self, index: int) -> int:
        return self._end_positions[index] - len(self._batches[index].data)

    def first_base(self, offset: Offset) -> Offset:
        """Where the batch begins with which `read` would begin."""
        first = self._first_reaching(offset)
        return self._batches[first].base_offset if first < len(self._batches) else self.end_offset

    def read(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes:
        """The bytes from the batch that contains `offset` on, at most `limit_bytes`: the last batch
        may be cut, wherever that is.

        With `at_least_one` the first batch comes whole even when it is larger (KIP-74). `offset`
        lies between the start offset and the end offset, both included; in a gap the next batch is
        the first. What follows from `stop` on is not read.
        """
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

    def batches_reaching(self, timestamp: int) -> Iterator[StoredBatch]:
        """The batches with a record of `timestamp` or later, in order. Of the first batch of the
        log that record may be below the log start."""
        first = bisect_left(self._running_max, timestamp)
        return (b for b in islice(self._batches, first, None) if b.max_timestamp >= timestamp)

    def max_timestamp(self) -> int | None:
        """The largest timestamp of all batches, None for an empty log."""
        return self._running_max[-1] if self._running_max else None
