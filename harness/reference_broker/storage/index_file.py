"""A segment's sparse indexes, searched in the file: their size does not matter.

Source: classes AbstractIndex, OffsetIndex, TimeIndex. A Kafka that was killed leaves zeros behind
the entries; a start that trusts such a file takes them for entries, as Kafka does.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.operating_system import read_at
from harness.reference_broker.storage.open_files import OpenFiles, write_all

_AT_ONCE_BYTES = 8_192  # at the end, where most searches end too
FARTHEST = 2**31 - 1
"""The largest distance from the base of a segment to the last offset in it."""
_OFFSET_ENTRY, _TIME_ENTRY = struct.Struct(">ii"), struct.Struct(">qi")


class EntriesOutOfOrder(ValueError):
    """An entry that is not larger than the last one (class InvalidOffsetException)."""


class IndexFile:
    """Entries of two numbers, sorted by the first; subclasses define their meaning."""

    def __init__(self, files: OpenFiles, path: Path, form: struct.Struct, most_bytes: int) -> None:
        """Open the file with its entries, or create it. Raises OSError."""
        self._files, self.path, self._form = files, path, form
        self._most = most_bytes // form.size
        self._gathered: bytearray | None = None
        self.count = self._count()
        self.last: tuple[int, int] | None = self.entry(self.count - 1) if self.count else None

    @property
    def is_full(self) -> bool:
        """True if the file has no room for another entry: the segment ends."""
        return self.count >= self._most

    def entry(self, place: int) -> tuple[int, int]:
        """Return the two numbers of an entry."""
        size = self._form.size
        found = read_at(self._descriptor, size, place * size)
        first, second = self._form.unpack(found)
        return first, second

    def append(self, first: int, second: int) -> None:
        """Append an entry. Raises OSError."""
        entry = self._form.pack(first, second)
        if self._gathered is None:
            write_all(self._descriptor, entry, self.count * self._form.size)
        else:
            self._gathered += entry
        self.count += 1
        self.last = first, second

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Collect appended entries and write them together at the end of the block.

        The caller must not search for them before. Raises OSError.
        """
        gathered, at = bytearray(), self.count * self._form.size
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            if gathered:
                write_all(self._descriptor, bytes(gathered), at)

    def floor(self, key: int, number: int = 0) -> tuple[int, int] | None:
        """Return the last entry with a first (or second) number of `key` or less.

        The search looks where the entry would be in numbers that rise evenly, as most do, then at
        the end, where most searches end, then everywhere else. In a damaged file, where they do not
        rise, it finds the same entry as Kafka, as long as all of the file is read at once
        (AbstractIndex, indexSlotRangeFor).
        """
        if not self.count:
            return None
        at_once, tail = _AT_ONCE_BYTES // self._form.size, self._tail
        for begin in dict.fromkeys((self._guess(key, number, tail, at_once), tail)):
            end = self.count if begin == tail else begin + at_once
            read = self._entries(begin, end)
            if read(begin)[number] < key and (begin == tail or read(end - 1)[number] > key):
                return read(_search(key, number, begin, end - 1, read)[0])
        found = self._search_before(tail, key, number)
        return None if found is None else self.entry(found[0])

    @property
    def _tail(self) -> int:
        """The first entry of the tail, where searches look first (AbstractIndex, warmEntries)."""
        return max(0, self.count - 1 - _AT_ONCE_BYTES // self._form.size)

    def _guess(self, key: int, number: int, tail: int, at_once: int) -> int:
        """Return the first entry of a range that may have the key."""
        if tail == 0 or self.last is None:
            return tail
        first, last = self.entry(0)[number], self.last[number]
        if not first < key < last:
            return tail
        middle = (key - first) * self.count // (last - first)
        return min(max(0, middle - at_once // 2), tail)

    def _search_before(self, last: int, key: int, number: int) -> tuple[int, bool] | None:
        """Search the entries up to `last`, as `_search` does; None: the first is larger.

        It reads single entries while many are left, then all of the rest at once.
        """
        if self.entry(0)[number] > key:
            return None
        low, high = 0, last
        while (high - low) * self._form.size > _AT_ONCE_BYTES:
            middle = (low + high + 1) // 2
            found = self.entry(middle)[number]
            if found == key:
                return middle, True
            low, high = (low, middle - 1) if found > key else (middle, high)
        return _search(key, number, low, high, self._entries(low, high + 1))

    def ceiling(self, key: int, number: int = 0) -> tuple[int, int] | None:
        """Return the first entry with a first (or second) number of `key` or more.

        The very first is returned only if its number is more, as in Kafka (AbstractIndex,
        binarySearch).
        """
        if not self.count:
            return None
        found: tuple[int, bool] | None
        if self.entry(self._tail)[number] < key:
            read = self._entries(self._tail, self.count)
            found = _search(key, number, self._tail, self.count - 1, read)
        else:
            found = self._search_before(self._tail, key, number)
        place = 0 if found is None else found[0] if found[1] else found[0] + 1
        return None if place == self.count else self.entry(place)

    def _entries(self, begin: int, end: int) -> Callable[[int], tuple[int, int]]:
        """Return a function like `entry` for these places, read at once. Raises OSError."""
        size, unpack_from = self._form.size, self._form.unpack_from
        found = read_at(self._descriptor, (end - begin) * size, begin * size)
        return lambda place: unpack_from(found, (place - begin) * size)

    def cut(self, count: int) -> None:
        """Keep the first `count` entries. Raises OSError."""
        if count < self.count:
            os.ftruncate(self._descriptor, count * self._form.size)
        self.count = count
        self.last = self.entry(count - 1) if count else None

    def cut_from(self, key: int, number: int = 0) -> None:
        """Remove the entries with a first (or second) number of `key` or more."""
        found = self._search_before(self.count - 1, key - 1, number) if self.count else None
        self.cut(0 if found is None else found[0] + 1)

    def reset(self) -> None:
        """Remove all entries."""
        os.ftruncate(self._descriptor, 0)
        self.count, self.last = 0, None

    def trim(self) -> None:
        """Remove the bytes behind the last whole entry."""
        os.ftruncate(self._descriptor, self.count * self._form.size)

    def flush(self) -> None:
        """Flush the file to the disk."""
        os.fsync(self._descriptor)

    @property
    def _descriptor(self) -> int:
        return self._files.descriptor(self.path)

    def _count(self) -> int:
        return os.fstat(self._descriptor).st_size // self._form.size


def _search(
    key: int, number: int, low: int, high: int, read: Callable[[int], tuple[int, int]]
) -> tuple[int, bool]:
    """Return the place of the last entry that is not above the key, and True if it has the key.

    The caller ensures that the entry at `low` is not above it. Source: class AbstractIndex
    (binarySearch).
    """
    while low < high:
        middle = (low + high + 1) // 2
        found = read(middle)[number]
        if found == key:
            return middle, True
        low, high = (low, middle - 1) if found > key else (middle, high)
    return low, False


class OffsetIndex(IndexFile):
    """The offset index: from the last offset of a batch to its position in the segment."""

    def __init__(self, files: OpenFiles, path: Path, base_offset: int, most_bytes: int) -> None:
        super().__init__(files, path, _OFFSET_ENTRY, most_bytes)
        self._base = base_offset

    def can_hold(self, offset: int) -> bool:
        """True if the offset is not too far from the segment's base."""
        return 0 <= offset - self._base <= FARTHEST

    def add(self, offset: int, position: int) -> None:
        """Append an entry. Raises EntriesOutOfOrder, OSError."""
        relative = offset - self._base
        if self.last is not None and relative <= self.last[0]:
            raise EntriesOutOfOrder(f"{self.path}: offset {offset} behind a larger one")
        self.append(relative, position)

    def position_of(self, offset: int) -> int:
        """Return the position from which to search for the batch with that offset.

        It may be below 0 in a damaged file.
        """
        found = self.floor(offset - self._base)
        return 0 if found is None else found[1]

    def offset_above(self, position: int) -> int | None:
        """Return the offset of the first entry at this position or behind it, or None."""
        found = self.ceiling(position, number=1)
        return None if found is None else self._base + found[0]

    @property
    def last_offset(self) -> int:
        """The offset of the last entry; the base without any."""
        return self._base if self.last is None else self._base + self.last[0]


class TimeIndex(IndexFile):
    """The time index: from the largest timestamp so far to the offset of the batch that has it."""

    def __init__(self, files: OpenFiles, path: Path, base_offset: int, most_bytes: int) -> None:
        super().__init__(files, path, _TIME_ENTRY, most_bytes)
        self._base = base_offset

    def add(self, timestamp: int, offset: int, *, even_when_full: bool = False) -> None:
        """Append an entry, unless the timestamp did not grow or the offset is too far away.

        The latter happens in a segment that must be split. Raises EntriesOutOfOrder, OSError.
        """
        relative = offset - self._base
        if relative > FARTHEST or (self.is_full and not even_when_full):
            return
        if self.last is not None:
            if relative < self.last[1]:
                raise EntriesOutOfOrder(f"{self.path}: offset {offset} behind a larger one")
            if timestamp <= self.last[0]:
                return
        if timestamp >= 0:
            self.append(timestamp, relative)

    def offset_of(self, timestamp: int) -> int:
        """Return the offset up to which all records are older than `timestamp`, or as old."""
        found = self.floor(timestamp)
        return self._base if found is None else self._base + found[1]

    def cut_from_offset(self, offset: int) -> None:
        """Remove the entries with that offset or a larger one."""
        self.cut_from(offset - self._base, number=1)
