"""A file that is known by its checksum before it is there; light to import."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.operating_system import lock_file
from harness.targets.errors import TargetError

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes total), from several threads, never two at once."""


class DownloadError(TargetError):
    """An artifact cannot be had: names it, its address, the reason and what to do."""


@dataclass(frozen=True)
class Download:
    """One file to be fetched: its readable name, address, place, checksum (hex) and size."""

    name: str
    url: str
    url_origin: str
    path: Path
    sha256: str
    size_bytes: int


def checksum_matches(path: Path, sha256: str, size_bytes: int) -> bool:
    """True if the file exists with this size and SHA-256 (hex)."""
    try:
        if path.stat().st_size != size_bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold ``PATH.lock``: one thread of one process at a time; the kernel frees it at our death."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("ab") as lock:
        lock_file(lock.fileno(), waits=True)
        yield
