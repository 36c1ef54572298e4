"""The memory of our proxy while a receiver does not read."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass

import psutil

from bench.proxy.frames import ANSWER_BYTES, fetch_of
from bench.proxy.load import HOST, LIMIT_S, SMALL_BYTES
from bench.proxy.peers import ProxyPeer

CONNECTIONS = 20
ANSWERS = 64
STILL_S = 1.0


@dataclass(frozen=True, slots=True)
class ProxyHeld:
    """Bytes for all connections together, and by how much the process grew."""

    held_bytes: int
    grew_bytes: int

    def __str__(self) -> str:
        offered = CONNECTIONS * ANSWERS * ANSWER_BYTES
        return (
            f"{CONNECTIONS} receivers that do not read, {offered >> 20:,} MiB for them: "
            f"held {self.held_bytes / (1 << 20):.1f} MiB, "
            f"grew by {self.grew_bytes / (1 << 20):.1f} MiB"
        )


def held_by(peer: ProxyPeer) -> ProxyHeld:
    """Ask for answers on each connection, read none, and wait until nothing moves."""
    process = psutil.Process(peer.process.pid)
    before = process.memory_info().rss
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            sock = stack.enter_context(socket.create_connection((HOST, peer.port), LIMIT_S))
            sock.sendall(fetch_of(SMALL_BYTES) * ANSWERS)
        held = _when_still(peer)
        return ProxyHeld(held, max(0, process.memory_info().rss - before))


def _when_still(peer: ProxyPeer) -> int:
    last, since = -1, time.monotonic()
    deadline = since + LIMIT_S
    while time.monotonic() - since < STILL_S and time.monotonic() < deadline:
        held = peer.held_bytes()
        if held != last:
            last, since = held, time.monotonic()
        time.sleep(0.05)
    return last
