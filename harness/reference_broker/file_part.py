"""A piece of a file that is sent to a client without a copy in memory."""

from __future__ import annotations

from collections.abc import Callable

from harness.base.operating_system import read_at, send_file
from harness.codec.borrowed_buffer import BorrowedBuffer

LEAST_BYTES = 128 * 1024
"""Sending smaller pieces directly is no faster than reading and writing (docs/storage-speed.md)."""


class FileTooShort(Exception):
    """The file was cut after the piece was made."""


class FilePart(BorrowedBuffer):
    """``size_bytes`` of a file, from ``position`` on.

    ``descriptor`` is called at each use: with many open files, some are closed meanwhile. The owner
    of the file may change it as soon as it runs again, so the piece must be sent before.
    """

    __slots__ = ("_descriptor", "_position", "_size_bytes")

    def __init__(self, descriptor: Callable[[], int], position: int, size_bytes: int) -> None:
        super().__init__()
        self._descriptor, self._position, self._size_bytes = descriptor, position, size_bytes

    def __len__(self) -> int:
        return self._size_bytes

    def __bytes__(self) -> bytes:
        """Raises OSError, FileTooShort."""
        return self._read(0)

    def send(self, socket: int) -> bytes:
        """Send as much as the socket takes now; return the rest, which has to wait.

        Raises OSError, FileTooShort: of the file. An error of the socket shows when the caller
        writes the rest to it.
        """
        sent, descriptor = 0, self._descriptor()
        while sent < self._size_bytes:
            left, position = self._size_bytes - sent, self._position + sent
            try:
                count = send_file(socket, descriptor, position, left)
            except OSError:
                break
            if not count:
                break
            sent += count
        return self._read(sent)

    def _read(self, skipped: int) -> bytes:
        left = self._size_bytes - skipped
        found = read_at(self._descriptor(), left, self._position + skipped) if left else b""
        if len(found) < left:
            raise FileTooShort(f"{left - len(found)} of {self._size_bytes} bytes are gone")
        return found
