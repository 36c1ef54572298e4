"""A segment's sparse indexes, searched in the file: their size does not matter.

Source: classes AbstractIndex, OffsetIndex, TimeIndex. A Kafka that was killed leaves zeros behind
the entries; whoever believes such a file all the same takes them for entries, as Kafka does.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.reference_broker.storage.open_files import OpenFiles, write_all

_AT_ONCE_BYTES = 8_192  # at the end, where most searches end too
FARTHEST = 2**31 - 1
"""From the base of a segment to the last offset in it."""
_OFFSET_ENTRY, _TIME_ENTRY = struct.Struct(">ii"), struct.Struct(">qi")


class EntriesOutOfOrder(ValueError):
    """An entry that does not come behind the last one (class InvalidOffsetException)."""


class IndexFile:
    """Entries of two numbers, sorted by the first; the caller says what they mean."""

    def __init__(self, files: OpenFiles, path: Path, form: struct.Struct, most_bytes: int) -> None:
        """What is there is kept. Raises OSError."""
        self._files, self.path, self._form = files, path, form
        self._most = most_bytes // form.size
        self._gathered: bytearray | None = None
        self.count = self._count()
        self.last: tuple[int, int] | None = self.entry(self.count - 1) if self.count else None

    @property
    def is_full(self) -> bool:
        """No more entries: the segment ends."""
        return self.count >= self._most

    def entry(self, place: int) -> tuple[int, int]:
        """The numbers there."""
        size = self._form.size
        found = os.pread(self._descriptor, size, place * size)
        first, second = self._form.unpack(found)
        return first, second

    def append(self, first: int, second: int) -> None:
        """Behind the last one. Raises OSError."""
        entry = self._form.pack(first, second)
        if self._gathered is None:
            write_all(self._descriptor, entry, self.count * self._form.size)
        else:
            self._gathered += entry
        self.count += 1
        self.last = first, second

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """What is appended meanwhile is written at the end, at once; nobody may look for it
        before. Raises OSError."""
        gathered, at = bytearray(), self.count * self._form.size
        self._gathered = gathered
        try:
            yield
        finally:
            self._gathered = None
            if gathered:
                write_all(self._descriptor, bytes(gathered), at)

    def floor(self, key: int, number: int = 0) -> tuple[int, int] | None:
        """The last entry whose first (or second) number is `key` or less.

        It is looked for where it would be in numbers that rise evenly, as most do, then at the end,
        where most look, then everywhere else. In a damaged file, where they do not rise, Kafka
        finds the same, as long as all of it is read at once (AbstractIndex, indexSlotRangeFor).
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
        """From there on a key is looked for first (AbstractIndex, warmEntries)."""
        return max(0, self.count - 1 - _AT_ONCE_BYTES // self._form.size)

    def _guess(self, key: int, number: int, tail: int, at_once: int) -> int:
        """From where on a key may be found."""
        if tail == 0 or self.last is None:
            return tail
        first, last = self.entry(0)[number], self.last[number]
        if not first < key < last:
            return tail
        middle = (key - first) * self.count // (last - first)
        return min(max(0, middle - at_once // 2), tail)

    def _search_before(self, last: int, key: int, number: int) -> tuple[int, bool] | None:
        """As `_search`, in the entries up to that one; None: the first is larger.

        By single entries while many are left, then by all of the rest, read at once.
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
        """The first entry whose first (or second) number is `key` or more.

        The very first is it only where it is more, as in Kafka (AbstractIndex, binarySearch).
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
        """As `entry`, for these places. Raises OSError."""
        size, unpack_from = self._form.size, self._form.unpack_from
        found = os.pread(self._descriptor, (end - begin) * size, begin * size)
        return lambda place: unpack_from(found, (place - begin) * size)

    def cut(self, count: int) -> None:
        """Keep so many. Raises OSError."""
        if count < self.count:
            os.ftruncate(self._descriptor, count * self._form.size)
        self.count = count
        self.last = self.entry(count - 1) if count else None

    def cut_from(self, key: int, number: int = 0) -> None:
        """Without those whose first (or second) number is `key` or more."""
        found = self._search_before(self.count - 1, key - 1, number) if self.count else None
        self.cut(0 if found is None else found[0] + 1)

    def reset(self) -> None:
        """Empty, whatever was in it."""
        os.ftruncate(self._descriptor, 0)
        self.count, self.last = 0, None

    def trim(self) -> None:
        """Without what is behind the last whole entry."""
        os.ftruncate(self._descriptor, self.count * self._form.size)

    def flush(self) -> None:
        """What is in it is on the disk when the call returns."""
        os.fsync(self._descriptor)

    @property
    def _descriptor(self) -> int:
        return self._files.descriptor(self.path)

    def _count(self) -> int:
        return os.fstat(self._descriptor).st_size // self._form.size


def _search(
    key: int, number: int, low: int, high: int, read: Callable[[int], tuple[int, int]]
) -> tuple[int, bool]:
    """The place of the last entry that is not larger, of which the one at `low` is sure, and
    whether it has the key. Source: class AbstractIndex (binarySearch)."""
    while low < high:
        middle = (low + high + 1) // 2
        found = read(middle)[number]
        if found == key:
            return middle, True
        low, high = (low, middle - 1) if found > key else (middle, high)
    return low, False


class OffsetIndex(IndexFile):
    """From the offset a batch ends with, to where it begins in the segment."""

    def __init__(self, files: OpenFiles, path: Path, base_offset: int, most_bytes: int) -> None:
        super().__init__(files, path, _OFFSET_ENTRY, most_bytes)
        self._base = base_offset

    def can_hold(self, offset: int) -> bool:
        """Whether it is not too far from the segment's base."""
        return 0 <= offset - self._base <= FARTHEST

    def add(self, offset: int, position: int) -> None:
        """Raises EntriesOutOfOrder, OSError."""
        relative = offset - self._base
        if self.last is not None and relative <= self.last[0]:
            raise EntriesOutOfOrder(f"{self.path}: offset {offset} behind a larger one")
        self.append(relative, position)

    def position_of(self, offset: int) -> int:
        """From where on the batch with that offset is to be looked for; what is in a damaged file
        may be below 0."""
        found = self.floor(offset - self._base)
        return 0 if found is None else found[1]

    def offset_above(self, position: int) -> int | None:
        """That of the first entry at this position or behind it; None: there is none."""
        found = self.ceiling(position, number=1)
        return None if found is None else self._base + found[0]

    @property
    def last_offset(self) -> int:
        """That of the last entry; the base without any."""
        return self._base if self.last is None else self._base + self.last[0]


class TimeIndex(IndexFile):
    """From the largest timestamp so far, to the offset of the batch that has it."""

    def __init__(self, files: OpenFiles, path: Path, base_offset: int, most_bytes: int) -> None:
        super().__init__(files, path, _TIME_ENTRY, most_bytes)
        self._base = base_offset

    def add(self, timestamp: int, offset: int, *, even_when_full: bool = False) -> None:
        """Unless no record became younger, or it is too far away, in a segment that is to be split.

        Raises EntriesOutOfOrder, OSError.
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
        """Up to that offset all records are older than `timestamp`, or as old."""
        found = self.floor(timestamp)
        return self._base if found is None else self._base + found[1]

    def cut_from_offset(self, offset: int) -> None:
        """Without entries of that offset and those behind it."""
        self.cut_from(offset - self._base, number=1)
