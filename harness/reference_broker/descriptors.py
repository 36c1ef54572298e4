"""How many files and sockets the process may have open, and when one of them has to give way.

A new descriptor has the lowest number that is free: a high one says that all below are in use,
whoever has them.
"""

from __future__ import annotations

import errno
import resource
import sys
from contextlib import suppress

_SPARED = 256
"""For what is open for a moment: a checkpoint, a folder, a connection until it is refused."""


def raise_limit() -> None:
    """To what the system allows, as a JVM does at its start (MaxFDLimit)."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems tell a larger limit than they take
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def limit() -> int:
    """So many descriptors the process may have."""
    found, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if found == resource.RLIM_INFINITY else found


def spared() -> int:
    """So many of them nobody keeps."""
    return min(_SPARED, limit() // 4)


def is_spared(descriptor: int) -> bool:
    """Whether it is one of those: then it, or another one, has to be closed soon."""
    return descriptor >= limit() - spared()


def is_exhausted(error: OSError) -> bool:
    """Whether the process or the system had no descriptor left: nothing is wrong with a disk."""
    return error.errno in (errno.EMFILE, errno.ENFILE)
