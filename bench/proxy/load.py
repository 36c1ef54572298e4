"""The client: one round of each kind of work against one peer, as a number a second."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from bench.proxy.frames import ANSWER_BYTES, PING_BYTES, REQUEST_BYTES, bulk_request, fetch_of, ping
from bench.proxy.server import BULK_REQUESTS

HOST = "127.0.0.1"
LIMIT_S = 60
PINGS = 400
SEVERAL = 16
PINGS_OF_SEVERAL = 60
ANSWERS = 32
CROWD = 1000
CROWD_ROUNDS = 20
SMALL_BYTES = PING_BYTES // 2


@dataclass(frozen=True, slots=True)
class ProxyWork:
    """``once(port)`` does ``amount`` of ``unit``, and gives how many a second."""

    name: str
    unit: str
    amount: float
    once: Callable[[int], float]


def _connected(stack: ExitStack, port: int) -> socket.socket:
    one = stack.enter_context(socket.create_connection((HOST, port), LIMIT_S))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def _receive(sock: socket.socket, size: int, room: memoryview) -> None:
    while size > 0:
        got = sock.recv_into(room[: min(size, len(room))])
        if not got:
            raise ConnectionError(f"closed, and {size} bytes were to come")
        size -= got


def _ping(sock: socket.socket, count: int) -> None:
    request, room = ping(), memoryview(bytearray(PING_BYTES))
    for _ in range(count):
        sock.sendall(request)
        _receive(sock, PING_BYTES, room)


def pings(port: int) -> float:
    with ExitStack() as stack:
        sock = _connected(stack, port)
        _ping(sock, 5)
        began = time.perf_counter()
        _ping(sock, PINGS)
        return PINGS / (time.perf_counter() - began)


def _each_ping(socks: list[socket.socket], rounds: int) -> float:
    """All send, then all receive; requests a second."""
    request, room = ping(), memoryview(bytearray(PING_BYTES))
    began = time.perf_counter()
    for _ in range(rounds):
        for sock in socks:
            sock.sendall(request)
        for sock in socks:
            _receive(sock, PING_BYTES, room)
    return len(socks) * rounds / (time.perf_counter() - began)


def many_pings(count: int, rounds: int, port: int) -> float:
    with ExitStack() as stack:
        socks = [_connected(stack, port) for _ in range(count)]
        _each_ping(socks, 1)
        return _each_ping(socks, rounds)


def requests_in_bulk(port: int) -> float:
    request = bulk_request()
    room = memoryview(bytearray(PING_BYTES))
    with ExitStack() as stack:
        sock = _connected(stack, port)
        _ping(sock, 5)
        began = time.perf_counter()
        for _ in range(BULK_REQUESTS):
            sock.sendall(request)
        _receive(sock, PING_BYTES, room)
        return BULK_REQUESTS * len(request) / (time.perf_counter() - began) / 1e6


def answers_in_bulk(port: int) -> float:
    request, room = fetch_of(SMALL_BYTES), memoryview(bytearray(1 << 18))
    with ExitStack() as stack:
        sock = _connected(stack, port)
        _ping(sock, 5)
        began = time.perf_counter()
        sender = threading.Thread(target=sock.sendall, args=(request * ANSWERS,))
        sender.start()
        _receive(sock, ANSWERS * ANSWER_BYTES, room)
        sender.join()
        return ANSWERS * ANSWER_BYTES / (time.perf_counter() - began) / 1e6


PING, BULK_UP, BULK_DOWN = "1 KiB ping-pong", "bulk requests", "bulk answers"
WORKS = (
    ProxyWork(PING, "requests", PINGS, pings),
    ProxyWork(
        f"1 KiB ping-pong, {SEVERAL} connections",
        "requests",
        SEVERAL * PINGS_OF_SEVERAL,
        partial(many_pings, SEVERAL, PINGS_OF_SEVERAL),
    ),
    ProxyWork(BULK_UP, "MB", BULK_REQUESTS * REQUEST_BYTES / 1e6, requests_in_bulk),
    ProxyWork(BULK_DOWN, "MB", ANSWERS * ANSWER_BYTES / 1e6, answers_in_bulk),
)
CROWD_WORK = ProxyWork(
    f"{CROWD:,} connections",
    "requests",
    CROWD * CROWD_ROUNDS,
    partial(many_pings, CROWD, CROWD_ROUNDS),
)
