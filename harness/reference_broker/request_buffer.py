"""Bytes read from one client and not served yet, cut into requests. No sockets, no clock."""

import struct

_LENGTH = struct.Struct(">i")
_PIECE_BYTES = 64 * 1024


class FrameRefused(Exception):
    """An illegal length of a request: negative, or above socket.request.max.bytes."""


class RequestBuffer:
    """Bytes in, requests out.

    The buffer joins pieces when the request is whole: a buffer that grows with each piece
    costs many times as much.
    """

    __slots__ = ("_at", "_frame_bytes", "_pieces", "_read_bytes", "limit_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._pieces: list[bytes] = []
        self._read_bytes = 0  # in all pieces
        self._at = 0  # where the next request begins in the first piece
        self._frame_bytes = 0

    @property
    def size_bytes(self) -> int:
        """The number of buffered bytes."""
        return self._read_bytes - self._at

    @property
    def request_bytes(self) -> int:
        """The size of the next request without its length in front; 0 while that is unknown."""
        return max(self._frame_bytes - _LENGTH.size, 0)

    def knows_length(self) -> bool:
        """True if the next request's length is here. Raises FrameRefused for an illegal one."""
        return bool(self._frame_bytes) or self._learn_length()

    def append(self, data: bytes) -> None:
        """Append read bytes; small pieces are joined, so that each costs little memory."""
        if self._pieces and len(self._pieces[-1]) + len(data) <= _PIECE_BYTES:
            self._pieces[-1] += data
        else:
            self._pieces.append(data)
        self._read_bytes += len(data)

    def next_request(self) -> bytes | None:
        """Return the next whole request without its length, None while it is incomplete.

        Raises FrameRefused for an illegal length, before the rest of such a request is awaited.
        """
        if not self.knows_length():
            return None
        if self.size_bytes < self._frame_bytes:
            return None
        if len(self._pieces) > 1 and self.size_bytes == self._frame_bytes:
            return self._all_at_once()
        data, begin = self._joined(), self._at
        end = begin + self._frame_bytes
        self._frame_bytes = 0
        if end == len(data):
            self.clear()
        else:
            self._at = end
        return data[begin + _LENGTH.size : end]

    def _all_at_once(self) -> bytes:
        """Return the request of all pieces, copied once; its length is in the first piece."""
        first = memoryview(self._pieces[0])[self._at + _LENGTH.size :]
        request = b"".join([first, *self._pieces[1:]])
        self.clear()
        return request

    def clear(self) -> None:
        """Drop all buffered bytes."""
        self._pieces.clear()
        self._read_bytes = self._at = self._frame_bytes = 0

    def _learn_length(self) -> bool:
        if self.size_bytes < _LENGTH.size:
            return False
        (length,) = _LENGTH.unpack_from(self._joined(), self._at)
        if not 0 <= length <= self.limit_bytes:
            raise FrameRefused(f"a request of {length} bytes, the limit is {self.limit_bytes}")
        self._frame_bytes = _LENGTH.size + length
        return True

    def _joined(self) -> bytes:
        if len(self._pieces) > 1:
            self._pieces = [b"".join([self._pieces[0][self._at :], *self._pieces[1:]])]
            self._read_bytes, self._at = len(self._pieces[0]), 0
        return self._pieces[0]
