"""Settings of the allocator for freed memory."""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # malloc.h
_KEPT_BYTES, _LARGE_BYTES = 32 * 1024 * 1024, 8 * 1024 * 1024


def keep_freed_memory() -> None:
    """Keep some freed memory for the next responses instead of returning it after each.

    The system has to clear the pages of a response of a megabyte first; with glibc's own limits
    that takes several times as long as to copy it. Only glibc has these limits.
    """
    try:
        limit = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    limit(_TRIM_THRESHOLD, _KEPT_BYTES)
    limit(_MMAP_THRESHOLD, _LARGE_BYTES)
