"""The sockets and threads of the test process itself, to find those that a test leaves behind.

What an earlier test left may end meanwhile, so a test looks for new ones.
"""

from __future__ import annotations

import gc
import threading

import psutil


def open_sockets() -> set[tuple[object, ...]]:
    """Return every TCP socket by number and addresses, after a garbage collection."""
    gc.collect()
    return {(one.fd, one.laddr, one.raddr) for one in psutil.Process().net_connections(kind="tcp")}


def running_threads() -> set[threading.Thread]:
    """Return every thread that has started and not ended."""
    return set(threading.enumerate())
