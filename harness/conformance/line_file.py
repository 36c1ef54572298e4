"""A file of JSON Lines that is written once, and survives a kill at any byte."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


class LineFile:
    """Appends lines, which are with the operating system when the call returns.

    Raises FileExistsError: the file is already there; it is never continued.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb", buffering=0)

    def append(self, lines: Iterable[str]) -> None:
        """Append them together. Raises OSError."""
        data = b"".join(line.encode() + b"\n" for line in lines)
        while data:
            data = data[self._file.write(data) :]

    def sync(self) -> None:
        """Wait until the disk has all lines. Raises OSError."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Twice is fine."""
        self._file.close()
