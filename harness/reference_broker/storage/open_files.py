"""File descriptors by path, so many at a time: logs have more files than a process may open."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from weakref import WeakSet

from harness.reference_broker.descriptors import is_exhausted, is_spared, limit

_MOST = 100_000


class OpenFiles:
    """The longest unused one is closed when there are too many; it is opened again when needed.

    Too many are half of what the process may open, and any while it has hardly any left. So a
    descriptor is to be used at once: it may be another file's when the next one was asked for.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = min(max(limit() // 2, 1), _MOST) if most is None else most
        self._open: OrderedDict[Path, int] = OrderedDict()
        _ALL.add(self)

    def __len__(self) -> int:
        return len(self._open)

    def descriptor(self, path: Path) -> int:
        """For reading and writing; the file is made if it is not there. Raises OSError."""
        found = self._open.get(path)
        if found is not None:
            self._open.move_to_end(path)
            return found
        opened = open_file(path, os.O_RDWR | os.O_CREAT)
        if self._open and (len(self._open) >= self._most or is_spared(opened)):
            self._close_longest_unused()
        self._open[path] = opened
        return opened

    def _close_longest_unused(self) -> None:
        _, found = self._open.popitem(last=False)
        os.close(found)

    def close_some(self) -> int:
        """The longer unused half; how many they are."""
        count = (len(self._open) + 1) // 2
        for _ in range(count):
            self._close_longest_unused()
        return count

    def close(self, path: Path) -> None:
        """It is renamed, removed or replaced."""
        found = self._open.pop(path, None)
        if found is not None:
            os.close(found)

    def close_below(self, folder: Path) -> None:
        """A folder is renamed, with all that is in it."""
        for path in [path for path in self._open if path.parent == folder]:
            self.close(path)

    def close_under(self, directory: Path) -> None:
        """A folder of logs is left, with all folders in it."""
        for path in [path for path in self._open if path.is_relative_to(directory)]:
            self.close(path)


_ALL: WeakSet[OpenFiles] = WeakSet()


def close_some() -> int:
    """Of all that are open, for who needs others; how many were closed. In the loop's thread."""
    return sum(files.close_some() for files in list(_ALL))


def open_file(path: Path, flags: int) -> int:
    """Its descriptor. When there is none left others are closed first: in the loop's thread.

    Raises OSError.
    """
    while True:
        try:
            return os.open(path, flags | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if not is_exhausted(error) or not close_some():
                raise


def write_all(descriptor: int, data: bytes, position: int) -> None:
    """The system may take less at once. Raises OSError; what was written stays then."""
    written = os.pwrite(descriptor, data, position)
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], position + written)


def replace_file(path: Path, data: bytes, *, durably: bool = True) -> None:
    """Let a file have this content, whole or not at all, also when the machine loses power.

    With `durably` it has it when the call returns. Source: class CheckpointFile. Raises OSError.
    """
    beside = path.with_name(f"{path.name}.tmp")
    descriptor = open_file(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(descriptor, data, 0)
        if durably:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    beside.replace(path)
    if durably:
        flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Its names are on the disk when the call returns. Raises OSError."""
    descriptor = open_file(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
