"""How much of answers may wait for clients that read slowly, over all connections."""

from collections.abc import Hashable
from typing import Protocol


class SlowReader(Hashable, Protocol):
    """Who does not take what it is answered."""

    def abort(self) -> None:
        """Drop it with what waits for it."""


class UntakenAnswers:
    """Bytes that were answered and not taken, by reader.

    Nothing more is answered to a reader that is slow already, so each has one answer here at most.
    When all of them have too much, the one that is slow for the longest time is dropped: who reads
    is served, whatever others do.
    """

    __slots__ = ("_by_reader", "_left_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes
        self._by_reader: dict[SlowReader, int] = {}

    def wait_for(self, reader: SlowReader, size_bytes: int) -> None:
        """From now on so much waits for this reader. The last one is never dropped for it."""
        self._by_reader[reader] = size_bytes
        self._left_bytes -= size_bytes
        while self._left_bytes < 0 and len(self._by_reader) > 1:
            slowest = next(iter(self._by_reader))
            self.leave(slowest)
            slowest.abort()

    def leave(self, reader: SlowReader) -> None:
        """It has taken its answers, or is gone."""
        self._left_bytes += self._by_reader.pop(reader, 0)
