"""The sockets of the test process itself, to find those that a test leaves open."""

from __future__ import annotations

import gc

import psutil


def open_sockets() -> set[tuple[object, ...]]:
    """Every TCP socket by number and addresses, after a garbage collection.

    What an earlier test left may end meanwhile, so a test looks for new ones.
    """
    gc.collect()
    return {(one.fd, one.laddr, one.raddr) for one in psutil.Process().net_connections(kind="tcp")}
