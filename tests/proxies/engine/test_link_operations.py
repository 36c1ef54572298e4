"""Operations on a whole link: cuts, toxics, resets, its end."""

from __future__ import annotations

import gc
import socket
import struct
import weakref

import pytest

from harness.proxies.direction import Direction
from harness.proxies.event import Event
from harness.proxies.limits import ProxyLimits
from harness.proxies.toxics.black_hole import BlackHole
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.latency import Latency
from harness.proxies.toxics.timeout import Timeout
from tests.proxies.ends import read, read_to_end
from tests.proxies.engine.proxied import (
    is_reset,
    is_silent,
    proxied,
    until,
)

pytestmark = pytest.mark.rotates(8)

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


@pytest.mark.parametrize("direction", [None, *Direction])
def test_cut_link_delivers_all_bytes_after_heal(direction: Direction | None) -> None:
    with proxied() as ends:
        ends.client.sendall(b"one")
        assert read(ends.broker, 3) == b"one"
        ends.net.call(ends.proxy.cut, direction)
        ends.client.sendall(b"two")
        ends.broker.sendall(b"back")
        ends.client.shutdown(socket.SHUT_WR)
        for sock, way, data in ((ends.broker, UP, b"two"), (ends.client, DOWN, b"back")):
            if direction in (None, way):
                assert is_silent(sock)
            else:
                assert read(sock, len(data)) == data
        ends.net.call(ends.proxy.heal)
        if direction in (None, UP):
            assert read_to_end(ends.broker) == b"two"
        if direction in (None, DOWN):
            assert read(ends.client, 4) == b"back"


def test_new_connection_over_cut_link_passes_no_bytes_until_heal() -> None:
    with proxied() as ends:
        ends.net.call(ends.proxy.cut)
        with socket.create_connection(ends.proxy.listen, 10) as client:
            client.sendall(b"hello")
            assert is_silent(client)
            ends.net.call(ends.proxy.heal)
            broker = ends.listener.accept()[0]
            with broker:
                broker.settimeout(10)
                assert read(broker, 5) == b"hello"


def test_bytes_held_by_toxic_survive_cut() -> None:
    with proxied() as ends:
        ends.net.call(ends.proxy.toxics.add, Latency(latency=100), UP)
        ends.client.sendall(b"late")
        ends.net.call(ends.proxy.cut)
        assert is_silent(ends.broker, 0.25)
        ends.net.call(ends.proxy.heal)
        assert read(ends.broker, 4) == b"late"


def test_reenabled_proxy_listens_on_same_port() -> None:
    with proxied() as ends:
        address = ends.proxy.listen
        ends.net.wait_for(ends.proxy.disable())
        assert not ends.proxy.enabled
        assert read_to_end(ends.client) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 10)
        ends.net.wait_for(ends.proxy.enable())
        assert ends.proxy.listen == address
        client, broker = ends.another()
        with client, broker:
            client.sendall(b"again")
            assert read(broker, 5) == b"again"


def test_reset_connections_resets_clients_and_brokers() -> None:
    with proxied() as ends:
        client, broker = ends.another()
        with client, broker:
            ends.net.call(ends.proxy.reset_connections)
            assert all(is_reset(sock) for sock in (client, broker, ends.client, ends.broker))
        until(lambda: not ends.proxy.connections, "they are gone")


@pytest.mark.parametrize("end", ["reset", "toxic removed", "all reset"])
def test_half_open_connection_is_released(end: str) -> None:
    with proxied() as ends:
        ends.net.call(ends.proxy.toxics.add, HalfOpen(), DOWN, name="half")
        ends.client.sendall(b"x")
        assert read(ends.broker, 1) == b"x"
        connection = weakref.ref(ends.proxy.connections[0])
        reset_by_peer(ends.broker)
        assert is_silent(ends.client)
        assert ends.proxy.connections
        if end == "reset":
            reset_by_peer(ends.client)
        elif end == "all reset":
            ends.net.call(ends.proxy.reset_connections)
        else:
            ends.net.call(ends.proxy.toxics.remove, "half")
            assert read_to_end(ends.client) == b""
            ends.client.shutdown(socket.SHUT_WR)
        until(lambda: not ends.proxy.connections, "it is gone")
        until(lambda: gc.collect() >= 0 and connection() is None, "nobody keeps it")


def reset_by_peer(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def test_many_small_pieces_held_by_toxic_pause_reads() -> None:
    """Each costs far more than its byte."""
    with proxied(limits=ProxyLimits(held_bytes=100_000)) as ends:
        ends.net.call(ends.proxy.toxics.add, BlackHole(), UP)
        ends.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = ends.proxy.connections[0].upstream
        count = 0
        while not ends.net.call(lambda: stream._is_paused):
            ends.client.sendall(b"x")
            count += 1
            assert count < 100_000
        chain = stream.way.chain
        assert chain is not None
        assert 0 < ends.net.call(lambda: chain.held_bytes) < 5_000
        assert 100_000 < ends.held_bytes() < 101_000


def test_call_from_own_proxy_thread_raises_runtime_error() -> None:
    with proxied() as ends:
        for call in (lambda: ends.net.call(ends.proxy.cut), lambda: ends.net.add(ends.proxy)):
            with pytest.raises(RuntimeError, match="own thread, which cannot wait for itself"):
                ends.net.call(call)


def test_toxic_added_and_removed_on_open_connection_is_reported() -> None:
    events: list[Event] = []
    with proxied(tell=events.append) as ends:
        ends.net.call(ends.proxy.toxics.add, Timeout(timeout=0), DOWN, name="hole")
        ends.broker.sendall(b"swallowed")
        assert is_silent(ends.client)
        ends.net.call(ends.proxy.toxics.remove, "hole")
        ends.broker.sendall(b"and on")
        assert read_to_end_or(ends.client, b"and on")
        assert [event.what for event in events] == ["toxic_added", "fired", "toxic_removed"]
        until(lambda: ends.proxy.connections[0].downstream.way.chain is None, "a plain pipe again")


def read_to_end_or(sock: socket.socket, end: bytes) -> bool:
    """Read until these bytes have come or the stream has ended. True if they came."""
    data = b""
    while not data.endswith(end):
        piece = sock.recv(65536)
        if not piece:
            return False
        data += piece
    return True
