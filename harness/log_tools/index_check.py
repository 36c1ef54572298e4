"""Checks of a segment's indexes against its batches, in one pass.

An entry of an offset index names a position where a batch begins and the first or last offset of
that batch, or of a later one that was appended with it: releases differ in which. Source: classes
OffsetIndex, TimeIndex, TransactionIndex, LogSegment, DumpLogSegments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from harness.codec.data_framing import (
    OffsetIndexEntry,
    TimeIndexEntry,
    offset_index_entries,
    read_transaction_index,
    time_index_entries,
)
from harness.codec.data_framing.index_files import OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES
from harness.codec.data_framing.log_files import ABORTED_TXN_BYTES
from harness.codec.errors import DecodeError
from harness.codec.records.log_batch import LogBatch
from harness.log_tools.findings import INDEX_REBUILT, REBUILT, Finding, Gathered

E = TypeVar("E", OffsetIndexEntry, TimeIndexEntry)


class _Entries(Generic[E]):
    """The common part of both kinds of index: the order of entries, and their description."""

    entry_bytes: int
    kind: str

    def __init__(self, path: Path, read: Callable[[bytes], Iterator[E]], start: E) -> None:
        self._path, self.found = path, Gathered()
        self._judging = True
        try:
            entries = read(path.read_bytes())
        except DecodeError as error:
            kind, where = f"{self.kind}-cut", error.offset
            self.found.add(Finding(path, kind, error.problem, INDEX_REBUILT, where))
            entries = iter(())
        self._entries: Iterator[tuple[int, E]] = self._in_order(entries, start)
        self._next: tuple[int, E] | None = next(self._entries, None)

    def see_damage(self) -> None:
        """Stop checking: entries behind damage are cut together with the log."""
        self._judging = False

    def alone(self) -> None:
        """Check only the order of the entries, since there is no segment."""
        for _ in self._entries:
            pass

    def _above(self, entry: E, other: E) -> bool:
        raise NotImplementedError

    def _in_order(self, entries: Iterator[E], last: E) -> Iterator[tuple[int, E]]:
        """Yield (place, entry) of the entries that rise, and report the others.

        Of two that contradict each other, the one that fits neither before nor behind is wrong.
        """
        entry, place = next(entries, None), 0
        while entry is not None:
            behind = next(entries, None)
            leaps = behind is not None and self._above(behind, last)
            if not self._above(entry, last) or (
                behind is not None and leaps and not self._above(behind, entry)
            ):
                told = f"entry {place}, {_told(entry)}, beside {_told(last)}"
                self._report("order", place, entry, told)
            else:
                last = entry
                yield place, entry
            entry, place = behind, place + 1

    def _report(self, what: str, place: int, entry: E, problem: str) -> None:
        kind, at = f"{self.kind}-{what}", place * self.entry_bytes
        self.found.add(Finding(self._path, kind, problem, INDEX_REBUILT, at, entry.offset))


def _told(entry: OffsetIndexEntry | TimeIndexEntry) -> str:
    return " ".join(f"{name} {number}" for name, number in entry._asdict().items())


class OffsetIndexCheck(_Entries[OffsetIndexEntry]):
    """Raises OSError when the file cannot be read."""

    entry_bytes, kind = OFFSET_ENTRY_BYTES, "index"

    def __init__(self, path: Path, base_offset: int) -> None:
        start = OffsetIndexEntry(base_offset - 1, -1)
        super().__init__(path, lambda data: offset_index_entries(data, base_offset), start)
        self._waiting: deque[tuple[int, OffsetIndexEntry]] = deque()

    def see(self, batch: LogBatch) -> None:
        """Check the entries up to the next batch of the segment."""
        while self._judging and self._next and self._next[1].position <= batch.position:
            place, entry = self._next
            if entry.position < batch.position:
                problem = (
                    f"no batch begins at byte {entry.position}, where offset {entry.offset} is"
                )
                self._report("position", place, entry, problem)
            elif entry.offset < batch.base_offset:
                problem = f"offset {entry.offset} stands before byte {entry.position}"
                self._report("offset", place, entry, problem)
            else:
                self._waiting.append((place, entry))
            self._next = next(self._entries, None)
        while self._waiting and self._waiting[0][1].offset <= batch.last_offset:
            place, entry = self._waiting.popleft()
            if entry.offset not in (batch.base_offset, batch.last_offset):
                problem = f"no batch begins or ends at offset {entry.offset}"
                self._report("offset", place, entry, problem)

    def end(self, size_bytes: int) -> None:
        """There are no more batches."""
        if not self._judging:
            return
        for place, entry in self._waiting:
            problem = f"offset {entry.offset} is behind the segment's last"
            self._report("offset", place, entry, problem)
        while self._next is not None:
            place, entry = self._next
            problem = f"byte {entry.position} is behind the last batch of {size_bytes} bytes"
            self._report("position", place, entry, problem)
            self._next = next(self._entries, None)

    def _above(self, entry: OffsetIndexEntry, other: OffsetIndexEntry) -> bool:
        return entry.offset > other.offset and entry.position > other.position


class TimeIndexCheck(_Entries[TimeIndexEntry]):
    """Raises OSError when the file cannot be read."""

    entry_bytes, kind = TIME_ENTRY_BYTES, "time-index"

    def __init__(self, path: Path, base_offset: int) -> None:
        start = TimeIndexEntry(-1, base_offset)
        super().__init__(path, lambda data: time_index_entries(data, base_offset), start)
        self._largest = -1

    def see(self, batch: LogBatch) -> None:
        """Check the entries that name an offset of the next batch or an earlier one."""
        self._largest = max(self._largest, batch.max_timestamp)
        while self._judging and self._next and self._next[1].offset <= batch.last_offset:
            place, entry = self._next
            if entry.timestamp != self._largest:
                problem = (
                    f"timestamp {entry.timestamp} for offset {entry.offset}; the largest up to"
                    f" there is {self._largest}"
                )
                self._report("timestamp", place, entry, problem)
            self._next = next(self._entries, None)

    def end(self, size_bytes: int) -> None:
        """There are no more batches."""
        while self._judging and self._next is not None:
            place, entry = self._next
            problem = f"offset {entry.offset} is behind the last of {size_bytes} bytes"
            self._report("offset", place, entry, problem)
            self._next = next(self._entries, None)

    def _above(self, entry: TimeIndexEntry, other: TimeIndexEntry) -> bool:
        return entry.timestamp > other.timestamp and entry.offset >= other.offset


def check_transaction_index(
    path: Path, base_offset: int, next_offset: int | None
) -> Iterator[Finding]:
    """Check a transaction index.

    ``next_offset``: behind the segment; None if that is not known. Raises OSError.
    """
    kind, found, last = "txn-index", Gathered(), base_offset - 1
    try:
        entries = read_transaction_index(path.read_bytes())
    except DecodeError as error:
        yield Finding(path, f"{kind}-entry", error.problem, REBUILT, error.offset)
        return
    for place, entry in enumerate(entries):
        told = f"entry {place} of producer {entry.producer_id}"
        at = place * ABORTED_TXN_BYTES
        problems = {
            "order": (
                entry.last_offset <= last,
                f"it ends at {entry.last_offset}, not above {last}",
            ),
            "range": (
                entry.first_offset > entry.last_offset,
                f"it begins at {entry.first_offset} and ends at {entry.last_offset}",
            ),
            "offset": (
                next_offset is not None and entry.last_offset >= next_offset,
                f"it ends at {entry.last_offset}, behind the segment's last",
            ),
        }
        for what, (wrong, problem) in problems.items():
            if wrong:
                said = f"{told}: {problem}"
                found.add(Finding(path, f"{kind}-{what}", said, REBUILT, at, entry.last_offset))
        last = max(last, entry.last_offset)
    yield from found
