"""A recorder of every byte between a proxy and a broker, without any code of this project."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Iterator

Address = tuple[str, int]


class Recorder(socketserver.ThreadingTCPServer):
    """``seen``: address of the client -> the bytes that it sent, and those that it received."""

    daemon_threads = False

    def __init__(self, upstream: Address) -> None:
        super().__init__(("127.0.0.1", 0), _Recorded)
        self.upstream = upstream
        self.seen: dict[Address, tuple[bytearray, bytearray]] = {}

    @property
    def address(self) -> Address:
        host, port = self.server_address[:2]
        return str(host), port


class _Recorded(socketserver.BaseRequestHandler):
    server: Recorder

    def handle(self) -> None:
        sent, was_sent = self.server.seen[self.client_address] = bytearray(), bytearray()
        with socket.create_connection(self.server.upstream) as broker:
            back = threading.Thread(target=_pass_on, args=[broker, self.request, was_sent])
            back.start()
            _pass_on(self.request, broker, sent)
            back.join()


def _pass_on(source: socket.socket, destination: socket.socket, kept: bytearray) -> None:
    with contextlib.suppress(OSError):  # a reset is an end here
        while data := source.recv(65_536):
            kept += data
            destination.sendall(data)
    with contextlib.suppress(OSError):
        destination.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def recorder(upstream: Address) -> Iterator[Recorder]:
    """Run a recorder; at the end wait for its connections to end."""
    with Recorder(upstream) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
