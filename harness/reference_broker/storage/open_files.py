"""A limited number of file descriptors by path: logs have more files than a process may open."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from weakref import WeakSet

from harness.base.operating_system import (
    NAMES_CAN_BE_FLUSHED,
    OPENED_AS_OURS,
    descriptor_limit,
    write_at,
)
from harness.reference_broker.descriptors import is_exhausted, is_spared

_MOST = 100_000


class OpenFiles:
    """Open descriptors; the longest unused one is closed if there are too many.

    It is opened again when needed. Too many are half of those that the process may open, and any
    while it has hardly any left. So a caller must use a descriptor immediately: after the next call
    its number may be another file's.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = min(max(descriptor_limit() // 2, 1), _MOST) if most is None else most
        self._open: OrderedDict[Path, int] = OrderedDict()
        _ALL.add(self)

    def __len__(self) -> int:
        return len(self._open)

    def descriptor(self, path: Path) -> int:
        """Return a descriptor for reading and writing; create a missing file. Raises OSError."""
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
        """Close the longer unused half, and return its size."""
        count = (len(self._open) + 1) // 2
        for _ in range(count):
            self._close_longest_unused()
        return count

    def close(self, path: Path) -> None:
        """Close a file that will be renamed, removed or replaced."""
        found = self._open.pop(path, None)
        if found is not None:
            os.close(found)

    def close_below(self, folder: Path) -> None:
        """Close the files of a folder that will be renamed."""
        for path in [path for path in self._open if path.parent == folder]:
            self.close(path)

    def close_under(self, directory: Path) -> None:
        """Close the files in all folders of a log directory."""
        for path in [path for path in self._open if path.is_relative_to(directory)]:
            self.close(path)


_ALL: WeakSet[OpenFiles] = WeakSet()


def close_some() -> int:
    """Close half of all open files, and return their number. In the loop's thread."""
    return sum(files.close_some() for files in list(_ALL))


def open_file(path: Path, flags: int) -> int:
    """Open a file; without a free descriptor, close other files first. In the loop's thread.

    Raises OSError.
    """
    while True:
        try:
            return os.open(path, flags | OPENED_AS_OURS, 0o644)
        except OSError as error:
            if not is_exhausted(error) or not close_some():
                raise


def write_all(descriptor: int, data: bytes, position: int) -> None:
    """Write all data, though the system may take less at once.

    Raises OSError: a part may be written then.
    """
    written = write_at(descriptor, data, position)
    while written < len(data):
        written += write_at(descriptor, data[written:], position + written)


def replace_file(path: Path, data: bytes, *, durably: bool = True) -> None:
    """Replace a file's content, whole or not at all, also when the machine loses power.

    With `durably` the content is on the disk when the call returns. Source: class CheckpointFile.
    Raises OSError.
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
    """Flush the folder's names to the disk, where the system can. Raises OSError."""
    if not NAMES_CAN_BE_FLUSHED:
        return
    descriptor = open_file(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
