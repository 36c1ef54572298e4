"""One client connection: frames in one at a time, responses out in order, bounded memory.

Source: class SocketServer. A connection has one request in progress; while it is, at most one
socket read is buffered and then the socket is not read any more, so TCP slows the client down.
"""

import asyncio
import struct
from typing import cast

_LENGTH = struct.Struct(">i")
_BUFFERED_BYTES = 64 * 1024


class FrameRefused(Exception):
    """A length that no request has: negative, or above socket.request.max.bytes."""


class FrameStream(asyncio.Protocol):
    """The bytes of one connection. `gone` is done when the client has closed or vanished."""

    def __init__(self, limit_bytes: int, idle_ms: int) -> None:
        loop = asyncio.get_running_loop()
        self.gone: asyncio.Future[None] = loop.create_future()
        self._limit_bytes = limit_bytes
        self._idle_s = idle_ms / 1000 if idle_ms > 0 else None
        self._buffer = bytearray()
        self._wanted_bytes = 0  # how much the reader waits for; 0 when nobody reads
        self._readable: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._is_paused = False
        self.transport: asyncio.Transport | None = None

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the transport."""
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Buffer, and stop reading when more is there than is wanted."""
        self._buffer += data
        if self._readable is not None:
            if len(self._buffer) >= self._wanted_bytes and not self._readable.done():
                self._readable.set_result(None)
        elif len(self._buffer) > _BUFFERED_BYTES:
            self._pause()

    def eof_received(self) -> bool:
        """The client sends no more. Requests already here are still answered."""
        self._end()
        return True

    def connection_lost(self, _exc: Exception | None) -> None:
        """Nothing can be read or written any more."""
        self._end()
        self._writable.set()

    def pause_writing(self) -> None:
        """The client reads slower than it is answered."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._writable.set()

    # The connection's task calls these.

    async def next_frame(self) -> bytes | None:
        """The next request without its length; None at the end or when idle for too long.

        Raises FrameRefused before anything of a request with an illegal length is buffered.
        """
        try:
            async with asyncio.timeout(self._idle_s):
                if not await self._has(_LENGTH.size):
                    return None
            (length,) = _LENGTH.unpack_from(self._buffer)
            if not 0 <= length <= self._limit_bytes:
                raise FrameRefused(f"a request of {length} bytes, the limit is {self._limit_bytes}")
            return await self._take_frame(_LENGTH.size + length)
        except TimeoutError:
            return None

    async def send(self, data: bytes) -> None:
        """Write, and wait while the client is too slow to take it."""
        if self.transport is None or self.transport.is_closing():
            return
        self.transport.write(data)
        await self._writable.wait()

    def close(self) -> None:
        """Send what is written, then close."""
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        """Close now."""
        if self.transport is not None:
            self.transport.abort()

    async def _take_frame(self, size: int) -> bytes | None:
        """Only silence ends the wait for a frame's rest: a slow client is not an idle one."""
        while len(self._buffer) < size:
            before = len(self._buffer)
            step = min(size, before + _BUFFERED_BYTES)
            async with asyncio.timeout(self._idle_s):
                if not await self._has(step):
                    return None
        frame = bytes(memoryview(self._buffer)[_LENGTH.size : size])
        del self._buffer[:size]
        return frame

    async def _has(self, size: int) -> bool:
        """Wait for `size` buffered bytes; False when the client ends before."""
        while len(self._buffer) < size:
            if self.gone.done():
                return False
            self._wanted_bytes = size
            self._readable = asyncio.get_running_loop().create_future()
            self._resume()
            try:
                await self._readable
            finally:
                self._readable, self._wanted_bytes = None, 0
        return True

    def _end(self) -> None:
        if not self.gone.done():
            self.gone.set_result(None)
        if self._readable is not None and not self._readable.done():
            self._readable.set_result(None)

    def _pause(self) -> None:
        if not self._is_paused and self.transport is not None:
            self._is_paused = True
            self.transport.pause_reading()

    def _resume(self) -> None:
        if self._is_paused and self.transport is not None and not self.transport.is_closing():
            self._is_paused = False
            self.transport.resume_reading()
