"""The parts of Unix that not every system has, and what stands in their place on Windows.

This is the one place that finds out what the system has. The broker, the proxy, the codec, the
tools for logs and single requests, and the built-in broker as a target use Unix in no other way.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

HAS_FORK: Final = hasattr(os, "fork")
"""True if a process can be forked, lead a process group, and receive any signal.

Elsewhere a process can be ended without a warning, and that is all.
"""
NAMES_CAN_BE_FLUSHED: Final = hasattr(os, "O_DIRECTORY")
"""True if a folder can be opened, to flush the names in it. Kafka flushes none on Windows either
(class Utils, flushDir)."""
OPENED_AS_OURS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags for each file that is opened by number: other programs do not inherit it, no byte of it is
converted."""
RESET_ON_CLOSE: Final = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
"""The value of SO_LINGER with which a socket resets its connection when it is closed."""
ASSUMED_MEMORY_BYTES: Final = 4 * 1024**3
"""The memory of a machine that does not report it."""
_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK, getattr(errno, "EDEADLOCK", errno.EDEADLK)}
"""A lock of Windows is held by another, and still is after ten attempts."""
_HAS_POSITIONS = hasattr(os, "pread") and hasattr(os, "pwrite")


def _there(module: str) -> Any:
    """Return the module, None if the system does not have it."""
    try:
        return import_module(module)
    except ImportError:
        return None


_FCNTL, _RESOURCE = _there("fcntl"), _there("resource")


def lock_file(descriptor: int, *, waits: bool) -> None:
    """Lock an open file for this process, until it is closed; the system frees it at our death.

    Without ``waits`` raises BlockingIOError while another has it. On Windows the lock is of the
    first byte.
    """
    if _FCNTL is not None:
        _FCNTL.flock(descriptor, _FCNTL.LOCK_EX | (0 if waits else _FCNTL.LOCK_NB))
        return
    windows = import_module("msvcrt")
    while True:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            windows.locking(descriptor, windows.LK_LOCK if waits else windows.LK_NBLCK, 1)
            return
        except OSError as error:
            if error.errno not in _HELD:
                raise
            if not waits:
                raise BlockingIOError(errno.EAGAIN, "the file is locked") from error


def read_at(descriptor: int, size_bytes: int, position: int) -> bytes:
    """Return so many bytes of a file, or fewer at its end. Raises OSError.

    On Windows a file has one place that moves: one thread at a time reads and writes it.
    """
    if _HAS_POSITIONS:
        return os.pread(descriptor, size_bytes, position)
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.read(descriptor, size_bytes)


def write_at(descriptor: int, data: bytes, position: int) -> int:
    """Write to a file, and return the number of bytes that it took. Raises OSError.

    One thread at a time, as for :func:`read_at`.
    """
    if _HAS_POSITIONS:
        return os.pwrite(descriptor, data, position)
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.write(descriptor, data)


def send_file(socket: int, descriptor: int, position: int, size_bytes: int) -> int:
    """Send bytes of a file as far as the socket takes them; return their number.

    Returns 0 where the system cannot do it: then the caller sends them itself. Raises OSError.
    """
    send: Callable[[int, int, int, int], int] | None = getattr(os, "sendfile", None)
    return 0 if send is None else send(socket, descriptor, position, size_bytes)


def raise_descriptor_limit() -> None:
    """Raise the limit of open files and sockets to the system's maximum, where there is one.

    As a JVM does at its start (MaxFDLimit).
    """
    if _RESOURCE is not None:
        _, most = _RESOURCE.getrlimit(_RESOURCE.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):  # some systems report a larger limit than they accept
            _RESOURCE.setrlimit(_RESOURCE.RLIMIT_NOFILE, (most, most))


def descriptor_limit() -> int:
    """Return the number of files and sockets that the process may open; sys.maxsize: no limit.

    Windows counts files and sockets apart: an open that fails shows the limit of files.
    """
    if _RESOURCE is None:
        return sys.maxsize
    found: int = _RESOURCE.getrlimit(_RESOURCE.RLIMIT_NOFILE)[0]
    return sys.maxsize if found == _RESOURCE.RLIM_INFINITY else found


def memory_bytes() -> int:
    """Return the size of the machine's memory, or an assumed one."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # no such function, or no such name
        return ASSUMED_MEMORY_BYTES


def load_average() -> tuple[float, float, float]:
    """Return the processes that ran or waited for a processor in the last 1, 5 and 15 minutes.

    Zeros where the system does not count them.
    """
    count: Callable[[], tuple[float, float, float]] | None = getattr(os, "getloadavg", None)
    return (0.0, 0.0, 0.0) if count is None else count()
