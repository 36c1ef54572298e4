"""The limit of memory for responses that wait for slow clients, over all connections."""

from collections.abc import Hashable
from typing import Protocol


class SlowReader(Hashable, Protocol):
    """A connection with a client that does not read its responses."""

    def abort(self) -> None:
        """Close the connection and drop the responses that wait for it."""


class OutboundLimit:
    """Bytes of written responses that clients have not read, by connection.

    The node writes nothing more to a connection that is slow already, so each has one response here
    at most. When all of them take too much memory, the connection that is slow for the longest time
    is dropped: a client that reads is served, whatever others do.
    """

    __slots__ = ("_by_reader", "_left_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes
        self._by_reader: dict[SlowReader, int] = {}

    def wait_for(self, reader: SlowReader, size_bytes: int) -> None:
        """Count `size_bytes` for this connection; above the limit, drop the longest slow ones.

        The last one is never dropped.
        """
        self._by_reader[reader] = size_bytes
        self._left_bytes -= size_bytes
        while self._left_bytes < 0 and len(self._by_reader) > 1:
            slowest = next(iter(self._by_reader))
            self.leave(slowest)
            slowest.abort()

    def leave(self, reader: SlowReader) -> None:
        """Remove a connection that has caught up or has ended."""
        self._left_bytes += self._by_reader.pop(reader, 0)
