"""Listeners that are no Kafka brokers, or stop being one, at real sockets."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from harness.codec.header import decode_request_header
from tests.targets.stand_in import answer

GARBAGE = b"\x00\x00\x00\x10" + bytes(range(16))
NONSENSE = bytes(range(64, 128))  # as a length of anything it is too much
HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
API_VERSIONS = 18


class _Peer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while payload := self._request():
            out = self.answer(payload)
            if out is None:
                return
            self.wfile.write(out)

    def _request(self) -> bytes:
        length = self.rfile.read(4)
        return self.rfile.read(int.from_bytes(length, "big")) if len(length) == 4 else b""

    def answer(self, payload: bytes) -> bytes | None:
        raise NotImplementedError


class Silent(_Peer):
    """Accepts, reads, never answers."""

    def answer(self, payload: bytes) -> bytes:
        return b""


class Garbage(_Peer):
    """Answers with bytes that mean nothing."""

    def answer(self, payload: bytes) -> bytes:
        return GARBAGE


class WebServer(_Peer):
    """Answers as a web server does."""

    def answer(self, payload: bytes) -> bytes:
        return HTTP


class GarbageLater(_Peer):
    """Knows ApiVersions; what it says of the cluster is garbage."""

    def answer(self, payload: bytes) -> bytes:
        header, _ = decode_request_header(payload)
        if header.request_api_key == API_VERSIONS:
            out = answer(payload, int(self.connection.getsockname()[1]))
        else:
            out = header.correlation_id.to_bytes(4, "big") + NONSENSE
        return len(out).to_bytes(4, "big") + out


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextmanager
def listening(peer: type[_Peer]) -> Iterator[str]:
    """HOST:PORT at which such a peer takes connections."""
    with _Server(("127.0.0.1", 0), peer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield "{}:{}".format(*server.server_address[:2])
        finally:
            server.shutdown()
            thread.join()
