"""The limit of open files and sockets of the process, and the reserve below it.

A new descriptor has the lowest free number: a high number means that all below are in use, by any
part of the process.
"""

from __future__ import annotations

import errno
import resource
import sys
from contextlib import suppress

_SPARED = 256
"""Reserved for brief use: a checkpoint, a folder, a connection until its refusal."""


def raise_limit() -> None:
    """Raise the limit to the system's maximum, as a JVM does at its start (MaxFDLimit)."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems report a larger limit than they accept
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def limit() -> int:
    """Return the number of descriptors that the process may have."""
    found, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if found == resource.RLIM_INFINITY else found


def spared() -> int:
    """Return the number of descriptors that are reserved for files that are open briefly."""
    return min(_SPARED, limit() // 4)


def is_spared(descriptor: int) -> bool:
    """True if the descriptor is of the reserve: it, or another one, must be closed soon."""
    return descriptor >= limit() - spared()


def is_exhausted(error: OSError) -> bool:
    """True if the process or the system had no descriptor left; the disk is not at fault."""
    return error.errno in (errno.EMFILE, errno.ENFILE)
