"""Frames: an int32 length, then that many bytes."""

from __future__ import annotations

import struct

from harness.codec.errors import FrameError

_LENGTH = struct.Struct(">i")
LENGTH_BYTES = 4


def frame(*payload: bytes) -> bytes:
    """The parts of a payload one behind the other, with their length in front."""
    return b"".join((_LENGTH.pack(sum(map(len, payload))), *payload))


def frame_head(size_bytes: int) -> bytes:
    """Return the length prefix of a payload of ``size_bytes``."""
    return _LENGTH.pack(size_bytes)


class FrameSplitter:
    """Bytes as they arrive in, whole frames' payloads out. Holds at most one unfinished frame.

    After a length that is negative or above the limit, ``broken`` says so: nothing that follows
    on this connection can be read.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.broken: FrameError | None = None
        self._buffer = bytearray()

    @property
    def pending_bytes(self) -> int:
        """The number of buffered bytes of an unfinished frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads that ``data`` completes, in order.

        A bad length raises FrameError, unless whole frames stood before it: then those are
        returned, ``broken`` is set, and the next call raises.
        """
        if self.broken:
            raise self.broken
        self._buffer += data
        payloads: list[bytes] = []
        start = 0
        while len(self._buffer) - start >= LENGTH_BYTES:
            (length,) = _LENGTH.unpack_from(self._buffer, start)
            if not 0 <= length <= self.limit_bytes:
                self.broken = FrameError(f"frame length {length} is not in 0 .. {self.limit_bytes}")
                break
            stop = start + LENGTH_BYTES + length
            if stop > len(self._buffer):
                break
            payloads.append(bytes(self._buffer[start + LENGTH_BYTES : stop]))
            start = stop
        del self._buffer[:start]
        if self.broken and not payloads:
            raise self.broken
        return payloads

    def rest(self) -> bytes:
        """The bytes that no frame was made of: an unfinished one, or those after a bad length."""
        return bytes(self._buffer)
