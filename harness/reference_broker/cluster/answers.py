"""Frames of a connection, received through one permanent buffer: each is copied once."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable

FIRST_BUFFER_BYTES = 64 * 1024
MOST_BYTES = 256 * 1024 * 1024
"""The longest possible response; a larger length is an error of the peer."""
_LENGTH = struct.Struct(">i")


class AnswerProtocol(asyncio.BufferedProtocol):
    """Calls ``take`` with each payload, and ``gone`` once when the connection ends.

    A negative length, or more than MOST_BYTES, ends it.
    """

    def __init__(self, take: Callable[[bytes], None], gone: Callable[[], None]) -> None:
        self._take, self._gone = take, gone
        self._buffer = bytearray(FIRST_BUFFER_BYTES)
        self._filled = 0
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        del exc
        self._gone()

    def get_buffer(self, sizehint: int) -> memoryview:
        """See asyncio; there is always room."""
        del sizehint
        return memoryview(self._buffer)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """See asyncio."""
        self._filled += nbytes
        start = self._take_whole()
        rest = self._filled - start
        self._buffer[:rest] = self._buffer[start : self._filled]
        self._filled = rest
        if rest >= _LENGTH.size:
            self._make_room(_LENGTH.size + self._length_at(0))

    def _take_whole(self) -> int:
        """Pass on whole frames; return the position of the rest."""
        start, view = 0, memoryview(self._buffer)
        while self._filled - start >= _LENGTH.size:
            length = self._length_at(start)
            end = start + _LENGTH.size + length
            if length < 0 or end > self._filled:
                break
            self._take(bytes(view[start + _LENGTH.size : end]))
            start = end
        return start

    def _length_at(self, start: int) -> int:
        (length,) = _LENGTH.unpack_from(self._buffer, start)
        return int(length)

    def _make_room(self, frame_bytes: int) -> None:
        """Make room for a whole frame. The old buffer may be in use, so that it cannot grow."""
        if not _LENGTH.size <= frame_bytes <= MOST_BYTES:
            assert isinstance(self._transport, asyncio.Transport)
            self._transport.abort()
        elif frame_bytes > len(self._buffer):
            larger = bytearray(frame_bytes)
            larger[: self._filled] = self._buffer[: self._filled]
            self._buffer = larger
