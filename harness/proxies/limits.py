"""The limits of what a proxy holds, and of how long it waits."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Bytes, counts and times; all but the last two are for one connection.

    A direction holds at most ``held_bytes`` in steps and toxics and one read more, then reading
    stops; each piece counts for 128 more than it has, so this is about the memory. A wanted frame
    that is larger than ``collected_bytes`` passes unread; so does every frame while the frames of
    all connections together hold ``collected_in_all``. A request longer than ``request_bytes`` is
    none: Kafka's own limit.
    """

    request_bytes: int = 104_857_600
    collected_bytes: int = 104_857_600
    held_bytes: int = MIB
    kept_bytes: int = 16 * MIB  # of requests, until they are answered
    unanswered: int = 10_000  # requests
    connect_ms: float = 30_000
    linger_ms: float = 2_000  # how long a close waits for a peer that makes no progress
    connections: int = 10_000  # of one proxy; further ones wait in the backlog
    collected_in_all: int = 256 * MIB  # of one proxy


LIMITS = ProxyLimits()
