"""A socket without a socket: a transport that behaves as asyncio's, and the peer behind it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from labs.fuzz.proxied.hand_loop import HandLoop

HIGH_WATER_BYTES = 256
READ_BYTES = 32  # what one read brings at most


class MemoryTransport(asyncio.Transport):
    """The proxy's end. The methods of the last part act for the peer.

    ``window``: bytes that the peer still accepts; bytes beyond wait here.
    """

    def __init__(self, loop: HandLoop) -> None:
        super().__init__()
        self._loop = loop
        self.protocol: Any = None
        self.received = bytearray()  # by the peer
        self.got_end = self.was_reset = False  # so the peer sees it
        self.dropped_bytes = 0  # that were written, and never will be sent
        self.window = 0
        self.written_bytes = 0  # by the proxy
        self.delivered = bytearray()  # to the protocol
        self._coming: deque[bytes | None] = deque()  # what the peer sent, None: its end
        self._buffer = bytearray()
        self._high, self._low = HIGH_WATER_BYTES, HIGH_WATER_BYTES // 4
        self._linger: bytes | None = None
        self._peer_reset = self._has_ended = self._read_end = False
        self._is_slow = self._is_paused = self._wrote_end = self._is_closing = self._is_lost = False

    # -- as asyncio's have it ----------------------------------------------------------------------

    def begin(self, protocol: Any) -> None:
        self.protocol = protocol
        self._loop.call_soon(protocol.connection_made, self)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self if name == "socket" else default

    def setsockopt(self, level: int, name: int, value: bytes) -> None:
        self._linger = value

    def is_closing(self) -> bool:
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        return len(self._buffer)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = HIGH_WATER_BYTES if high is None else high
        self._low = self._high // 4 if low is None else low
        self._tell_if_slow()

    def write(self, data: Any) -> None:
        assert isinstance(data, bytes), data
        if self._wrote_end:
            raise RuntimeError("Cannot call write() after write_eof()")
        self.written_bytes += len(data)
        if self._is_lost or not data:
            return
        self._buffer += data
        self._flush()
        self._tell_if_slow()

    def write_eof(self) -> None:
        if self._is_closing or self._wrote_end:
            return
        self._wrote_end = True
        self._flush()

    def pause_reading(self) -> None:
        self._is_paused = self._is_paused or not self._is_closing

    def resume_reading(self) -> None:
        if not self._is_closing:
            self._is_paused = False

    def close(self) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        if not self._buffer:
            self._lose(None)

    def abort(self) -> None:
        self._force(None)

    def close_socket(self) -> None:
        """``close`` of an accepted socket that was never used."""

    # -- what the peer does ------------------------------------------------------------------------

    def peer_sends(self, data: bytes) -> None:
        if not self._has_ended:
            self._coming += (data[at : at + READ_BYTES] for at in range(0, len(data), READ_BYTES))

    def peer_ends(self) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._coming.append(None)

    def peer_resets(self) -> None:
        self._peer_reset = True

    def peer_takes(self, count: int) -> None:
        """Let the peer read so many more bytes."""
        self.window += count
        self._flush()

    def read_once(self) -> bool:
        """Deliver the events of one turn of a selector. True if there were any."""
        if self.protocol is None or self._is_paused or self._is_closing or self._read_end:
            if self._peer_reset and self._buffer and not self._is_lost:
                self._force(ConnectionResetError())
                return True
            return False
        if self._peer_reset:
            self._force(ConnectionResetError())
            return True
        if not self._coming:
            return False
        data = self._coming.popleft()
        if data is None:
            self._read_end = True
            if not self.protocol.eof_received():
                self.close()
        else:
            self.delivered += data
            self.protocol.data_received(data)
        return True

    @property
    def unread(self) -> bytes:
        """The bytes from the peer that the proxy has not read."""
        return b"".join(filter(None, self._coming))

    # ----------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        if self._is_lost:
            return
        taken = self._buffer[: self.window]
        if not self._peer_reset:
            self.received += taken
        self.window -= len(taken)
        del self._buffer[: len(taken)]
        if self._is_slow and len(self._buffer) <= self._low:
            self._is_slow = False
            self._loop.call_soon(self._tell_not_slow)
        if self._buffer:
            return
        if self._wrote_end:
            self.got_end = True
        if self._is_closing:
            self._lose(None)

    def _tell_if_slow(self) -> None:
        if not self._is_slow and len(self._buffer) > self._high:
            self._is_slow = True
            self.protocol.pause_writing()

    def _tell_not_slow(self) -> None:
        if not self._is_lost and not self._is_slow:
            self.protocol.resume_writing()

    def _force(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self.dropped_bytes += len(self._buffer)
        self._buffer.clear()
        self._is_closing = True
        self._lose(error)

    def _lose(self, error: Exception | None) -> None:
        self._is_lost = self.got_end = True
        self.was_reset = self._linger is not None
        self._loop.call_soon(self._tell_lost, error)

    def _tell_lost(self, error: Exception | None) -> None:
        self.protocol.connection_lost(error)
