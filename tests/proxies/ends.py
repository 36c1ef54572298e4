"""Both ends of a relay as plain sockets, and checks for leftovers after it has stopped."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from harness.proxies import FrameRule, RunningRelay
from labs.hang_limit import HANGS_AFTER_S

LIMIT_S = HANGS_AFTER_S


@dataclass
class Ends:
    """A client's socket, the broker's socket that the relay opened for it, and the relay."""

    client: socket.socket
    broker: socket.socket
    running: RunningRelay

    def other(self, side: socket.socket) -> socket.socket:
        return self.broker if side is self.client else self.client


@contextmanager
def relayed(rule: FrameRule | None = None, receive_bytes: int = 0) -> Iterator[Ends]:
    """One connection through a relay; ``receive_bytes`` makes both ends' buffers small."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = stack.enter_context(socket.socket())
        for one in (listener, client):
            one.settimeout(LIMIT_S)
            if receive_bytes:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        with RunningRelay(listener.getsockname(), rule) as running:  # stops before its ends close
            client.connect(running.address)
            broker = stack.enter_context(listener.accept()[0])
            broker.settimeout(LIMIT_S)
            yield Ends(client, broker, running)


def read(sock: socket.socket, count: int) -> bytes:
    """Read exactly so many bytes, fewer at the end of the stream."""
    data = b""
    while len(data) < count:
        piece = sock.recv(count - len(data))
        if not piece:
            break
        data += piece
    return data


def read_to_end(sock: socket.socket) -> bytes:
    """Read all bytes up to the end of the stream."""
    data = bytearray()
    while piece := sock.recv(65536):
        data += piece
    return bytes(data)


def in_background(sock: socket.socket, pieces: list[bytes], *, end: bool) -> threading.Thread:
    """Send the pieces one by one in a thread; half-close then if ``end``."""

    def send() -> None:
        for piece in pieces:
            sock.sendall(piece)
        if end:
            sock.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=send, name="sender")
    thread.start()
    return thread
