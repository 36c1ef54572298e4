"""Reading all that there is, for clients that are polled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from labs.clients_under_faults.job import CONSUMER, Job
from labs.clients_under_faults.notes import BACKOFF_S, ClientNotes

Found = Iterable[tuple[int, int, bytes | None]]
"""Partition, offset, value."""


class ReadProgress:
    """The position of the reader and the end offset in each partition."""

    def __init__(self, job: Job, notes: ClientNotes) -> None:
        self._notes = notes
        self._next = dict.fromkeys(range(job.partitions), 0)
        self.ends: Mapping[int, int] | None = None

    @property
    def is_whole(self) -> bool:
        ends = self.ends
        return ends is not None and all(self._next[one] >= end for one, end in ends.items())

    def take(self, found: Found) -> None:
        for partition, offset, value in found:
            self._notes.polled(partition, offset, value)
            self._next[partition] = max(self._next[partition], offset + 1)

    def take_ends(self, ends: Mapping[int, int]) -> None:
        for partition, offset in ends.items():
            self._notes.ends(partition, offset)
        self.ends = ends


def read_all(
    job: Job,
    notes: ClientNotes,
    poll: Callable[[], Found],
    ask_ends: Callable[[], Mapping[int, int]],
) -> None:
    """Poll until all records are read that existed when all sends had ended.

    Errors of the client are noted, and the poll is repeated, as in a program that must go on.
    """
    progress = ReadProgress(job, notes)
    while not progress.is_whole:
        try:
            progress.take(poll())
            if progress.ends is None and notes.may_end:
                progress.take_ends(ask_ends())
        except Exception as problem:
            notes.trouble(CONSUMER, problem)
            time.sleep(BACKOFF_S)  # a call that raises at once would spin
    notes.consumed()
