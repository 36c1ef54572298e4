"""A PLAINTEXT listener of this process before a secured one, for proxies that read frames.

It listens on 127.0.0.1 while it is needed. Each connection to it enters the secured listener by
:class:`harness.client.entrance.Entrance` as any other, and then passes bytes, the end of a stream
and a reset in both directions.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Self

from harness.base.operating_system import RESET_ON_CLOSE
from harness.client.entrance import Entrance
from harness.client.errors import BrokerMisbehaved
from harness.security.doors import door_at

HOST = "127.0.0.1"
ENTER_TIMEOUT_MS = 30_000
STEP_S = 0.2
"""Between looks at whether the relay was closed."""
READ_BYTES = 64 * 1024
HELD_BYTES = 1024 * 1024
"""Per direction: a side that does not read stops the other one, as without a relay."""


class ClearWays:
    """The relays of a test, at most one for each address."""

    def __init__(self) -> None:
        self._relays: dict[tuple[str, int], ClearRelay] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._relays:
            self._relays.popitem()[1].close()

    def to(self, address: tuple[str, int]) -> tuple[str, int]:
        """Return an address where the same broker answers without TLS and SASL: a relay's, or the
        address itself if that has no door."""
        if door_at(address) is None:
            return address
        if address not in self._relays:
            self._relays[address] = ClearRelay(address)
        return self._relays[address].address


class ClearRelay:
    """One listener; its connections end with it."""

    def __init__(self, behind: tuple[str, int]) -> None:
        self._behind = behind
        self._closing = threading.Event()
        self._listener = socket.create_server((HOST, 0))
        self._listener.settimeout(STEP_S)
        self.address: tuple[str, int] = (HOST, self._listener.getsockname()[1])
        self._threads = [self._started(self._accept)]

    def close(self) -> None:
        """End it and its connections; twice is fine."""
        self._closing.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _started(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        return thread

    def _accept(self) -> None:
        while not self._closing.is_set():
            with suppress(TimeoutError):
                client, _ = self._listener.accept()
                self._threads.append(self._started(self._attend, client))

    def _attend(self, client: socket.socket) -> None:
        with ExitStack() as held:
            held.callback(client.close)
            try:
                sides = self._enter(client)
            except (BrokerMisbehaved, OSError):
                _reset(client)
                return
            for side in sides:
                held.callback(side.close)
            _Passage(*sides).run(self._closing)

    def _enter(self, client: socket.socket) -> tuple[socket.socket, socket.socket]:
        """Return the sides between which bytes pass. Raises BrokerMisbehaved, OSError."""
        return client, Entrance(self._behind).enter(ENTER_TIMEOUT_MS)


class _Way:
    """One direction: bytes that were read and are not written yet."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self.source, self.sink = source, sink
        self.held = bytearray()
        self.has_ended = self.is_over = False  # the source's stream; all of it passed

    def read(self) -> None:
        if self.has_ended or len(self.held) >= HELD_BYTES:
            return
        with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            data = self.source.recv(READ_BYTES)
            self.held += data
            self.has_ended = not data

    def write(self) -> None:
        with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            while self.held:
                sent = self.sink.send(self.held[:READ_BYTES])
                del self.held[:sent]
        if self.has_ended and not self.held and not self.is_over:
            self.is_over = True
            with suppress(OSError):
                socket.socket.shutdown(self.sink, socket.SHUT_WR)


class _Passage:
    """Both directions between a client and its broker, in one thread: a TLS socket needs that."""

    def __init__(self, client: socket.socket, broker: socket.socket) -> None:
        self._sides = (client, broker)
        self._ways = (_Way(client, broker), _Way(broker, client))
        for side in self._sides:
            side.setblocking(False)

    def run(self, closing: threading.Event) -> None:
        """Pass all until the broker's stream has ended, or one side has reset the connection."""
        with selectors.DefaultSelector() as selector:
            for side in self._sides:
                selector.register(side, selectors.EVENT_READ)
            try:
                while not (closing.is_set() or self._ways[1].is_over):
                    self._watch(selector)
                    selector.select(0 if self._has_decrypted() else STEP_S)
                    self._pass()
            except OSError:
                for side in self._sides:
                    _reset(side)

    def _pass(self) -> None:
        for way in self._ways:
            way.read()
            way.write()

    def _has_decrypted(self) -> bool:
        """True if bytes wait inside of a TLS socket, where no selector sees them."""
        return any(
            isinstance(way.source, ssl.SSLSocket)
            and len(way.held) < HELD_BYTES
            and way.source.pending() > 0
            for way in self._ways
        )

    def _watch(self, selector: selectors.BaseSelector) -> None:
        for side, incoming, outgoing in zip(
            self._sides, self._ways, reversed(self._ways), strict=True
        ):
            reads = not incoming.has_ended and len(incoming.held) < HELD_BYTES
            wanted = selectors.EVENT_READ * reads | selectors.EVENT_WRITE * bool(outgoing.held)
            known = side in selector.get_map()
            if known and not wanted:
                selector.unregister(side)
            elif known:
                selector.modify(side, wanted)
            elif wanted:
                selector.register(side, wanted)


def _reset(side: socket.socket) -> None:
    with suppress(OSError):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    side.close()
