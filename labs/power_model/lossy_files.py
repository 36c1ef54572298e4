"""Files as a disk has them: what was flushed, and behind it what may be there or not.

What a power loss leaves, of what was not flushed:

- of a file any of the sectors that were written, in any combination; its size as after any number
  of the calls, in their order; where it grew and no sector came there are zeros;
- of the names in all folders those after any number of the changes, in the order in which they
  were made, as a journal has them; a flush of a folder keeps all that were made before it
  (``journal``), or only its own, and each folder has a number of its own (without).

A flush of a file says nothing of its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

SECTOR_BYTES = 512
ROOT = 0


class Write(NamedTuple):
    """A write to a file at this byte."""

    file: int
    at: int
    data: bytes


class Resize(NamedTuple):
    """A change of a file's length to this size."""

    file: int
    size: int


class FlushFile(NamedTuple):
    """The contents of a file are flushed to the disk."""

    file: int


class FileLink(NamedTuple):
    """A new file or folder in a folder, with this name."""

    folder: int
    name: str
    what: int
    is_folder: bool


class Rename(NamedTuple):
    """A rename within a folder; it replaces an entry with the new name."""

    folder: int
    old: str
    new: str


class Unlink(NamedTuple):
    """The removal of a name from a folder."""

    folder: int
    name: str


class FlushNames(NamedTuple):
    """A flush of a folder: its names are on the disk."""

    folder: int


Change = FileLink | Rename | Unlink
Call = Write | Resize | FlushFile | Change | FlushNames
Names = dict[int, dict[str, int]]
"""Of each folder what its names stand for."""


@dataclass(slots=True)
class _File:
    durable: bytes = b""
    pending: list[Write | Resize] = field(default_factory=list)


def _change(names: Names, call: Change) -> None:
    """Where the name it begins from is not there nothing changes."""
    folder = names.setdefault(call.folder, {})
    if isinstance(call, FileLink):
        folder[call.name] = call.what
    elif isinstance(call, Rename):
        if call.old in folder:
            folder[call.new] = folder.pop(call.old)
    else:
        folder.pop(call.name, None)


class ModelDisk:
    """Takes calls in their order; at any time it can return the files after a power loss."""

    def __init__(self, *, journal: bool = True) -> None:
        self._journal = journal
        self._files: dict[int, _File] = {}
        self._folders = {ROOT}
        self._names: Names = {ROOT: {}}
        self._changes: list[Change] = []

    def take(self, call: Call) -> None:
        """Apply the next call."""
        match call:
            case Write() | Resize():
                self._files[call.file].pending.append(call)
            case FlushFile():
                file = self._files[call.file]
                file.durable, file.pending = _content(file, None, Random(0)), []
            case FlushNames():
                kept = [one for one in self._changes if self._is_kept_by(call, one)]
                self._changes = [one for one in self._changes if not self._is_kept_by(call, one)]
                for one in kept:
                    _change(self._names, one)
            case _:
                if isinstance(call, FileLink) and call.is_folder:
                    self._folders.add(call.what)
                elif isinstance(call, FileLink):
                    self._files[call.what] = _File()
                self._changes.append(call)

    def _is_kept_by(self, flush: FlushNames, change: Change) -> bool:
        return self._journal or change.folder == flush.folder

    def everything(self) -> dict[Path, bytes]:
        """Return all files as they are without a power loss."""
        names = {folder: dict(found) for folder, found in self._names.items()}
        for change in self._changes:
            _change(names, change)
        return dict(self._tree(names, None, Random(0)))

    def left(self, random: Random) -> dict[Path, bytes]:
        """Return all files after a power loss; folders without files are left out."""
        names = {folder: dict(found) for folder, found in self._names.items()}
        for change in self._changes_left(random):
            _change(names, change)
        return dict(self._tree(names, random.choice((0.0, 0.5, 0.9, 1.0)), random))

    def _changes_left(self, random: Random) -> list[Change]:
        if self._journal:
            return self._changes[: _some(len(self._changes), random)]
        found: list[Change] = []
        for folder in sorted(self._folders):
            own = [one for one in self._changes if one.folder == folder]
            found += own[: _some(len(own), random)]
        return found

    def _tree(self, names: Names, share: float | None, random: Random) -> list[tuple[Path, bytes]]:
        """``share`` of the sectors are there, and None: all is."""
        found: list[tuple[Path, bytes]] = []
        todo = [(Path(), ROOT)]
        while todo:
            place, folder = todo.pop()
            for name, what in sorted(names.get(folder, {}).items()):
                if what in self._folders:
                    todo.append((place / name, what))
                else:
                    found.append((place / name, _content(self._files[what], share, random)))
        return found


def _some(count: int, random: Random) -> int:
    """None, all, or any number."""
    return random.choice((0, count, random.randint(0, count)))


def _content(file: _File, share: float | None, random: Random) -> bytes:
    pending = file.pending
    sized = len(pending) if share is None else _some(len(pending), random)
    data, size = bytearray(file.durable), len(file.durable)
    for number, call in enumerate(pending):
        if isinstance(call, Resize):
            if number < sized:
                size = call.size
                data = data[:size].ljust(size, b"\0")
            continue
        for at, sector in _sectors(call):
            if share is None or random.random() < share:
                data = data.ljust(at + len(sector), b"\0")
                data[at : at + len(sector)] = sector
        if number < sized:
            size = max(size, call.at + len(call.data))
    return bytes(data[:size].ljust(size, b"\0"))


def _sectors(call: Write) -> list[tuple[int, bytes]]:
    """The parts of it that a disk writes one by one."""
    found, at, end = [], call.at, call.at + len(call.data)
    while at < end:
        stop = min((at // SECTOR_BYTES + 1) * SECTOR_BYTES, end)
        found.append((at, call.data[at - call.at : stop - call.at]))
        at = stop
    return found
