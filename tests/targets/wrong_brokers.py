"""Brokers with wrong first answers, and servers that are none, in threads at real sockets."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from harness.base.address import Address
from harness.codec.frame import frame
from harness.codec.header import RequestRefused, decode_request_header
from tests.client.scripted import Peer
from tests.targets.stand_in import answer

Habit = Callable[[bytes], bytes | None]
"""Takes the payload of a request; returns the bytes to send, or None: the connection is closed."""


def right(payload: bytes, port: int = 9092) -> bytes:
    """The payload of the right answer of the stand-in."""
    return answer(payload, port)


def api_of(payload: bytes) -> tuple[int, int]:
    """(API key, version) of a request."""
    try:
        header, _ = decode_request_header(payload)
    except RequestRefused as problem:
        header = problem.header
    return header.request_api_key, header.request_api_version


def with_correlation_id(change: Callable[[int], int]) -> Habit:
    """Right but for the correlation id."""

    def habit(payload: bytes) -> bytes:
        out = right(payload)
        (number,) = struct.unpack_from(">i", out)
        return frame(struct.pack(">i", change(number)) + out[4:])

    return habit


def with_size(pack: Callable[[int], bytes]) -> Habit:
    """Right but for the size before the answer."""
    return lambda payload: pack(len(right(payload))) + right(payload)


def of_body(change: Callable[[bytes], bytes]) -> Habit:
    """Right frame and correlation id; the bytes behind them are changed."""

    def habit(payload: bytes) -> bytes:
        out = right(payload)
        return frame(out[:4] + change(out[4:]))

    return habit


@contextmanager
def listening(habit: Habit) -> Iterator[Address]:
    """Serve any number of connections, until the end."""
    held: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(EOFError, OSError):
            peer = Peer(connection)
            while (out := habit(peer.read_frame())) is not None:
                peer.send(out)

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            held.append(connection)
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield Address(*server.getsockname())
        finally:
            server.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for connection in held:
                with suppress(OSError):  # its thread may be closing it
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
