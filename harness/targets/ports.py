"""Ports of 127.0.0.1 that are free at this moment, and that no connection takes by chance."""

from __future__ import annotations

import contextlib
import secrets
import socket
from itertools import chain

HOST = "127.0.0.1"
_NEVER_TAKEN_BY_CHANCE = range(15_000, 32_768)
"""Ports below those from which systems open connections (from 32768 on, or 49152): a broker that is
down for a while finds its port again."""


def free_ports(count: int) -> list[int]:
    """Different ports of 127.0.0.1 that are free now (another listener may take them any time).

    Raises OSError: there are not so many.
    """
    ports = _NEVER_TAKEN_BY_CHANCE
    begin = secrets.randbelow(len(ports))  # other processes look for some at this moment
    found: list[int] = []
    with contextlib.ExitStack() as held:
        for port in chain(ports[begin:], ports[:begin]):
            if len(found) == count:
                break
            tried = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                tried.bind((HOST, port))
                found.append(port)
    if len(found) < count:
        raise OSError(f"{count} ports are wanted, {len(found)} of {HOST} are free")
    return found
