"""The first offset of each leader epoch of a log.

Source: KIP-101, KIP-279, class LeaderEpochFileCache.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from harness.base.ids import LeaderEpoch, Offset

_UNDEFINED = -1
_BEGIN = Offset(0)


class EpochEntry(NamedTuple):
    """A leader epoch, and the first offset that was or would have been written in it."""

    epoch: LeaderEpoch
    start_offset: Offset


class EpochEnd(NamedTuple):
    """The largest epoch not above the requested one, and the offset at which it ends."""

    epoch: int
    end_offset: int


class LeaderEpochs:
    """Epochs and their first offsets, both rising."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Sequence[EpochEntry] = ()) -> None:
        self._entries = list(entries)

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        """All entries, as in the file ``leader-epoch-checkpoint``."""
        return tuple(self._entries)

    @property
    def last(self) -> EpochEntry | None:
        """The last epoch and its first offset; None for a log without epochs."""
        return self._entries[-1] if self._entries else None

    @property
    def latest(self) -> LeaderEpoch | None:
        """The last epoch; None for a log without epochs."""
        return self._entries[-1].epoch if self._entries else None

    def assign(self, epoch: LeaderEpoch, start_offset: Offset) -> None:
        """Begin an epoch at this offset; remove entries that contradict it."""
        entries = self._entries
        if entries and entries[-1].epoch == epoch and entries[-1].start_offset <= start_offset:
            return
        while entries and (entries[-1].epoch >= epoch or entries[-1].start_offset >= start_offset):
            entries.pop()
        entries.append(EpochEntry(epoch, start_offset))

    def appended(self, epoch: LeaderEpoch, base_offset: Offset) -> None:
        """Note a batch of this epoch in the log.

        Messages of the old formats have no epoch. A log with such messages has no epochs by which
        it could be compared (class UnifiedLog, append).
        """
        if epoch == _UNDEFINED:
            self.truncate_from(_BEGIN)
        else:
            self.assign(epoch, base_offset)

    def end_of(self, epoch: int, log_end: Offset) -> EpochEnd | None:
        """Return the end of an epoch; None for one that is not known yet, and for -1."""
        if epoch == _UNDEFINED:
            return None
        if self.latest == epoch:
            return EpochEnd(epoch, log_end)
        higher = bisect_right(self._entries, epoch, key=lambda entry: entry.epoch)
        if higher == len(self._entries):
            return None
        begin = self._entries[higher].start_offset
        if higher == 0:
            return EpochEnd(epoch, begin)
        return EpochEnd(self._entries[higher - 1].epoch, begin)

    def epoch_at(self, offset: Offset) -> LeaderEpoch | None:
        """Return the epoch in which an offset was or would be written; None if there is none."""
        behind = bisect_right(self._entries, offset, key=lambda entry: entry.start_offset)
        return self._entries[behind - 1].epoch if behind else None

    def truncate_from(self, end: Offset) -> None:
        """Truncate to a log that ends at `end`."""
        self._entries = [entry for entry in self._entries if entry.start_offset < end]

    def truncate_below(self, start: Offset) -> None:
        """Truncate to a log that starts at `start`: the epoch of that offset begins there."""
        behind = bisect_right(self._entries, start, key=lambda entry: entry.start_offset)
        if behind:
            first = EpochEntry(self._entries[behind - 1].epoch, start)
            self._entries = [first, *self._entries[behind:]]
