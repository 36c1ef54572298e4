"""The limit of open files and sockets of the process, and the reserve below it.

A new descriptor has the lowest free number: a high number means that all below are in use, by any
part of the process.
"""

from __future__ import annotations

import errno

from harness.base.operating_system import descriptor_limit

_SPARED = 256
"""Reserved for brief use: a checkpoint, a folder, a connection until its refusal."""


def spared() -> int:
    """Return the number of descriptors that are reserved for files that are open briefly."""
    return min(_SPARED, descriptor_limit() // 4)


def is_spared(descriptor: int) -> bool:
    """True if the descriptor is of the reserve: it, or another one, must be closed soon."""
    return descriptor >= descriptor_limit() - spared()


def is_exhausted(error: OSError) -> bool:
    """True if the process or the system had no descriptor left; the disk is not at fault."""
    return error.errno in (errno.EMFILE, errno.ENFILE)
