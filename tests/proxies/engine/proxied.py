"""Both ends of a proxy as plain sockets, and interceptors that are written in a line."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import FetchRequest, MetadataRequest, ProduceRequest
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse
from harness.proxies.step import Step
from labs.awaiting import await_that
from labs.hang_limit import HANGS_AFTER_S
from tests.proxies.ends import read

LIMIT_S = HANGS_AFTER_S
Answer = Callable[[Any], Sequence[Step] | None]


def metadata(correlation_id: int) -> bytes:
    return frame(encode_request(MetadataRequest(), 1, correlation_id))


def fetch(correlation_id: int) -> bytes:
    return frame(encode_request(FetchRequest(), 4, correlation_id))


def produce(correlation_id: int, acks: int, version: int = 9) -> bytes:
    return frame(encode_request(ProduceRequest(acks=acks), version, correlation_id))


def answer(correlation_id: int, body: bytes = b"") -> bytes:
    return frame(correlation_id.to_bytes(4, "big") + body)


@dataclass
class Asking(Interceptor):
    """Want all frames, remember them, and return the given steps."""

    on_request: Answer = lambda seen: None
    on_response: Answer = lambda seen: None
    on_open: Answer = lambda place: None
    on_bad_length: Answer = lambda length: None
    directions: tuple[Direction, ...] = tuple(Direction)
    requests: list[SeenRequest] = field(default_factory=list)
    responses: list[SeenResponse] = field(default_factory=list)
    closed_places: list[SeenConnection] = field(default_factory=list)

    is_idle = False

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:
        return direction in self.directions

    def opened(self, place: SeenConnection) -> Sequence[Step] | None:
        return self.on_open(place)

    def closed(self, place: SeenConnection) -> None:
        self.closed_places.append(place)

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        self.requests.append(seen)
        return self.on_request(seen)

    def response(self, seen: SeenResponse) -> Sequence[Step] | None:
        self.responses.append(seen)
        return self.on_response(seen)

    def bad_length(self, place: SeenConnection, length: int) -> Sequence[Step] | None:
        return self.on_bad_length(length)


@dataclass
class Ends:
    """A client's socket, the socket that the proxy opened to the broker, and the proxy between."""

    client: socket.socket
    broker: socket.socket
    proxy: Proxy
    net: RunningProxies
    listener: socket.socket

    def held_bytes(self) -> int:
        return self.net.call(lambda: self.proxy.held_bytes)

    def another(self) -> tuple[socket.socket, socket.socket]:
        """A further connection: the client's and the broker's socket. The caller closes them."""
        client = socket.create_connection(self.proxy.listen, LIMIT_S)
        broker = self.listener.accept()[0]
        broker.settimeout(LIMIT_S)
        return client, broker


@contextmanager
def proxied(receive_bytes: int = 0, **options: Any) -> Iterator[Ends]:
    """One connection through a proxy; ``receive_bytes`` makes both ends' buffers small."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))
        client = stack.enter_context(socket.socket())
        for one in (listener, client):
            one.settimeout(LIMIT_S)
            if receive_bytes:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        net = stack.enter_context(RunningProxies())  # stops before its ends close
        proxy = Proxy("p", listener.getsockname(), **options)
        client.connect(net.add(proxy))
        broker = stack.enter_context(listener.accept()[0])
        broker.settimeout(LIMIT_S)
        yield Ends(client, broker, proxy, net, listener)


def is_silent(sock: socket.socket, for_s: float = 0.1) -> bool:
    """True if neither bytes nor an end arrive for so long."""
    sock.settimeout(for_s)
    try:
        return sock.recv(1, socket.MSG_PEEK) is None
    except TimeoutError:
        return True
    finally:
        sock.settimeout(LIMIT_S)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until the condition is true."""
    await_that(condition, what)


def arrives(ends: Ends, *frames: bytes) -> None:
    whole = b"".join(frames)
    assert read(ends.broker, len(whole)) == whole


def returns(ends: Ends, *frames: bytes) -> None:
    whole = b"".join(frames)
    assert read(ends.client, len(whole)) == whole


def is_reset(sock: socket.socket) -> bool:
    """True if the connection ended by RST, whatever came before."""
    try:
        while sock.recv(65536):
            pass
    except ConnectionResetError as error:
        return error.errno == errno.ECONNRESET
    return False
