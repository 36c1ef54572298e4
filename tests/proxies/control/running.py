"""A control API with real proxies on a thread of their own, a client for it, and an upstream."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Iterator
from typing import Any

import httpx

from harness.proxies.control.proxies import Controlled, Proxies
from harness.proxies.control.proxy_settings import ProxySettings
from harness.proxies.control.server import ControlServer
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from labs.hang_limit import HANGS_AFTER_S

Address = tuple[str, int]


def plain(settings: ProxySettings, like: Controlled | None) -> Proxy:
    """A proxy without rules."""
    return Proxy(settings.name, settings.upstream, listen=settings.listen)


class Control:
    """``http`` asks the API, ``call`` runs a function where it and its proxies run."""

    def __init__(self, **settings: Any) -> None:
        self.proxies, self.settings = Proxies(plain), settings
        self._server = ControlServer(self.proxies, **{"listen": ("127.0.0.1", 0), **settings})
        self._loop = RunningProxies()
        self.call, self.wait_for = self._loop.call, self._loop.wait_for

    def __enter__(self) -> Control:
        self._loop.__enter__()
        host, port = self._loop.wait_for(self._server.start())
        self.address = f"{host}:{port}"
        # No certificates are loaded, which would take most of the time of a test.
        self.http = httpx.Client(
            base_url=f"http://{self.address}", timeout=HANGS_AFTER_S, verify=False
        )
        return self

    def __exit__(self, *error: object) -> None:
        self.http.close()
        self._loop.wait_for(self._server.stop())
        self._loop.wait_for(self.proxies.close())
        self._loop.stop()


class _Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            while data := self.request.recv(65_536):
                self.request.sendall(data)


@contextlib.contextmanager
def echo() -> Iterator[Address]:
    """A server that sends back what it gets; at the end it waits for its clients to go."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        host, port = server.server_address[:2]
        try:
            yield str(host), port
        finally:
            server.shutdown()
            thread.join()


def connect(address: str, timeout_s: float = 10) -> socket.socket:
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=timeout_s)


def is_up(address: str) -> bool:
    """True if a server listens there."""
    try:
        connect(address).close()
    except ConnectionRefusedError:
        return False
    return True


def round_trip(address: str, data: bytes = b"there and back") -> bytes:
    """Send bytes through a proxy to an echo; return what came back, less if it was closed."""
    with connect(address) as connection:
        connection.sendall(data)
        received = b""
        while len(received) < len(data) and (part := connection.recv(65_536)):
            received += part
    return received
