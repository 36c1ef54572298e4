"""The share of a file that is in the page cache, and its removal from the cache."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

_READ, _SHARED, _FAILED = 1, 1, ctypes.c_void_p(-1).value  # PROT_READ, MAP_SHARED, MAP_FAILED


def drop(paths: Iterable[Path]) -> None:
    """Written to the disk first: the cache keeps what is not. Raises OSError."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def cached_share(path: Path) -> float:
    """Of the pages of a file, from 0 to 1 (mincore). Raises OSError."""
    size = path.stat().st_size
    if not size:
        return 0.0
    pages = -(-size // mmap.PAGESIZE)
    told = (ctypes.c_ubyte * pages)()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    descriptor = os.open(path, os.O_RDONLY)
    try:
        begin = libc.mmap(None, size, _READ, _SHARED, descriptor, 0)
    finally:
        os.close(descriptor)
    if begin == _FAILED:
        raise OSError(ctypes.get_errno(), "mmap")
    try:
        if libc.mincore(begin, size, told):
            raise OSError(ctypes.get_errno(), "mincore")
    finally:
        libc.munmap(begin, size)
    return sum(page & 1 for page in told) / pages
