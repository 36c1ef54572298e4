"""Recording of all changes that a process makes to the files below a folder.

The storage writes with functions of ``os`` only (``pathlib`` uses the same), so these are patched.
:meth:`Recording.expect_whole` checks that no change bypasses them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from labs.power_model.lossy_files import (
    Call,
    FileLink,
    FlushFile,
    FlushNames,
    ModelDisk,
    Rename,
    Resize,
    Unlink,
    Write,
)

ROOT = 0
Forgets = Callable[[Path], bool]


class Recording:
    """Records file calls below ``root`` in ``calls``; ``root`` is an empty folder at first.

    ``forgets``: files and folders without a flush, as by a mistake in the storage.
    """

    def __init__(self, root: Path, forgets: Forgets = lambda _: False) -> None:
        self.root, self.calls = root, list[Call]()
        self._forgets = forgets
        self._numbers: dict[Path, int] = {root: ROOT}
        self._opened: dict[int, Path] = {}
        self._next = ROOT + 1
        self._real = {name: getattr(os, name) for name in _WATCHED}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record the calls of all threads inside the context."""
        with mock.patch.multiple(os, **{name: getattr(self, f"_{name}") for name in _WATCHED}):
            yield

    def expect_whole(self) -> None:
        """Assert that the recorded calls result in the files below ``root``."""
        disk = ModelDisk()
        for call in self.calls:
            disk.take(call)
        found = {
            path.relative_to(self.root): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file()
        }
        assert disk.everything() == found, "something was written that was not seen"

    # -- the functions ---------------------------------------------------------------------------

    def _place(self, path: Any, dir_fd: int | None = None) -> Path | None:
        """Where that is; None: it is none of ours."""
        base = Path() if dir_fd is None else self._opened.get(dir_fd, Path())
        place = base / os.fsdecode(path)
        return place if place == self.root or self.root in place.parents else None

    def _number(self, place: Path) -> int:
        return self._numbers[place]

    def _make(self, place: Path, *, is_folder: bool) -> None:
        self._numbers[place], self._next = self._next, self._next + 1
        folder = self._number(place.parent)
        self.calls.append(FileLink(folder, place.name, self._numbers[place], is_folder))

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        opened: int = self._real["open"](path, flags, mode, dir_fd=dir_fd)
        place = self._place(path, dir_fd)
        if place is not None:
            if place not in self._numbers:
                self._make(place, is_folder=False)
            elif flags & os.O_TRUNC:
                self.calls.append(Resize(self._number(place), 0))
            self._opened[opened] = place
        return opened

    def _close(self, descriptor: int) -> None:
        self._opened.pop(descriptor, None)
        self._real["close"](descriptor)

    def _pwrite(self, descriptor: int, data: bytes, position: int) -> int:
        written: int = self._real["pwrite"](descriptor, data, position)
        if place := self._opened.get(descriptor):
            self.calls.append(Write(self._number(place), position, bytes(data[:written])))
        return written

    def _ftruncate(self, descriptor: int, size: int) -> None:
        self._real["ftruncate"](descriptor, size)
        if place := self._opened.get(descriptor):
            self.calls.append(Resize(self._number(place), size))

    def _fsync(self, descriptor: int) -> None:
        """Record the flush without doing it: the disk is a model."""
        place = self._opened.get(descriptor)
        if place is None:
            self._real["fsync"](descriptor)
        elif not self._forgets(place):
            kind = FlushNames if place.is_dir() else FlushFile
            self.calls.append(kind(self._number(place)))

    def _rename(self, old: Any, new: Any, **words: Any) -> None:
        self._renamed("rename", old, new, words)

    def _replace(self, old: Any, new: Any, **words: Any) -> None:
        self._renamed("replace", old, new, words)

    def _renamed(self, name: str, old: Any, new: Any, words: dict[str, Any]) -> None:
        self._real[name](old, new, **words)
        before, after = self._place(old), self._place(new)
        if before is None or after is None:
            return
        assert before.parent == after.parent, "the storage renames within a folder"
        self.calls.append(Rename(self._number(before.parent), before.name, after.name))
        for place in [one for one in self._numbers if one == before or before in one.parents]:
            self._numbers[after / place.relative_to(before)] = self._numbers.pop(place)

    def _unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._real["unlink"](path, dir_fd=dir_fd)
        self._gone(path, dir_fd)

    def _rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._real["rmdir"](path, dir_fd=dir_fd)
        self._gone(path, dir_fd)

    def _gone(self, path: Any, dir_fd: int | None) -> None:
        place = self._place(path, dir_fd)
        if place is not None:
            self.calls.append(Unlink(self._number(place.parent), place.name))
            del self._numbers[place]

    def _mkdir(self, path: Any, mode: int = 0o777, **words: Any) -> None:
        self._real["mkdir"](path, mode, **words)
        place = self._place(path)
        if place is not None:
            self._make(place, is_folder=True)


_WATCHED = (
    *("open", "close", "pwrite", "ftruncate", "fsync"),
    *("rename", "replace", "unlink", "rmdir", "mkdir"),
)
