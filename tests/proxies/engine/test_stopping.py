"""Proxies stop in bounded time, whatever is left to be read, and leave nothing open."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from harness.proxies import running
from harness.proxies.frames import FOUND_A_TURN, FRAMES_A_TURN
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from harness.proxies.seen import SeenRequest
from labs.fuzz.proxied.hand_loop import HandLoop
from labs.fuzz.proxied.memory_transport import MemoryTransport
from tests.proxies.ends import LIMIT_S, read, read_to_end
from tests.proxies.engine.proxied import Asking, metadata, proxied, until

BACKLOG = 10_000
FRAME_S = 0.05  # of which the backlog would need 500 s
Work = Callable[[HandLoop, Proxy, Any], None]


def in_hand(work: Work, asking: Asking) -> None:
    """Run ``work`` with one connection on a hand-driven loop, whatever the machine's speed."""
    loop = HandLoop()
    client, broker = MemoryTransport(loop), MemoryTransport(loop)
    broker.window = 1 << 30

    async def dial() -> MemoryTransport:
        return broker

    loop.dial = dial
    with loop.current():
        proxy = Proxy("p", ("b", 9092), interceptor=asking, now_ms=loop.now_ms)
        loop.create_task(proxy._begin(cast("socket.socket", client)))
        loop.run()
        work(loop, proxy, client)


def test_stop_takes_effect_between_frames_of_one_read() -> None:
    asking = Asking()

    def work(loop: HandLoop, proxy: Proxy, client: Any) -> None:
        def third(seen: SeenRequest) -> None:
            if seen.ordinal == 2:
                proxy.drop_unread()

        asking.on_request = third
        client.protocol.data_received(metadata(1) * BACKLOG)
        assert len(asking.requests) == 3
        client.protocol.data_received(metadata(2))
        assert len(asking.requests) == 3
        loop.create_task(proxy.stop())
        loop.run()
        assert proxy.connections == []
        assert client.got_end

    in_hand(work, asking)


def test_stop_aborts_connections_before_next_loop_turn() -> None:
    def work(loop: HandLoop, proxy: Proxy, client: Any) -> None:
        accepting = loop.create_task(asyncio.sleep(60))
        proxy._accepting.add(accepting)
        stop = proxy.stop()
        stop.send(None)  # it waits for what is being accepted
        assert client.is_closing()
        stop.close()
        accepting.cancel()
        loop.run()

    in_hand(work, Asking())


def test_loop_turn_processes_bounded_number_of_wanted_frames() -> None:
    asking = Asking(on_request=lambda seen: ())  # nothing goes on, so nothing else stops the reads

    def work(loop: HandLoop, proxy: Proxy, client: Any) -> None:
        client.protocol.data_received(metadata(1) * FOUND_A_TURN)
        assert len(asking.requests) == FOUND_A_TURN
        assert not client._is_paused
        client.protocol.data_received(metadata(1) * (2 * FOUND_A_TURN + 1) + metadata(2)[:5])
        assert len(asking.requests) == 2 * FOUND_A_TURN
        assert client._is_paused
        assert proxy.held_bytes >= (FOUND_A_TURN + 1) * len(metadata(1))
        loop.run()
        assert len(asking.requests) == 3 * FOUND_A_TURN + 1
        assert not client._is_paused
        client.protocol.data_received(metadata(2)[5:])
        assert [seen.ordinal for seen in asking.requests] == list(range(3 * FOUND_A_TURN + 2))

    in_hand(work, asking)


def test_loop_turn_counts_bounded_number_of_passing_frames() -> None:
    def work(loop: HandLoop, proxy: Proxy, client: Any) -> None:
        (counted,) = (cast("Any", one.requests) for one in proxy.connections)
        client.protocol.data_received(metadata(1) * (FRAMES_A_TURN + 1))
        assert counted.ordinal == FRAMES_A_TURN
        assert client._is_paused
        loop.run()
        assert counted.ordinal == FRAMES_A_TURN + 1
        assert proxy.counters.upstream.sent_bytes == len(metadata(1)) * (FRAMES_A_TURN + 1)

    in_hand(work, Asking(directions=()))


@pytest.mark.rotates(8)
@pytest.mark.parametrize("rest", [b"", metadata(1)[:-1]])
def test_backlog_of_reset_client_is_processed_completely(rest: bytes) -> None:
    asking = Asking()

    def work(loop: HandLoop, proxy: Proxy, client: Any) -> None:
        client.protocol.data_received(metadata(1) * BACKLOG + rest)
        client.peer_resets()
        client.abort()
        loop.run()
        assert len(asking.requests) == BACKLOG
        assert proxy.counters.upstream.cut_short == bool(rest)
        assert list(proxy.errors) == []

    in_hand(work, asking)


class Slow(Asking):
    """An interceptor that takes a while for each request, even during a stop."""

    def request(self, seen: SeenRequest) -> None:
        super().request(seen)
        threading.Event().wait(FRAME_S)


@pytest.mark.parametrize("way", ["stop", "remove"])
def test_stop_does_not_wait_for_backlog(way: str) -> None:
    slow = Slow()
    with proxied(interceptor=slow) as ends:
        ends.client.sendall(metadata(1) * BACKLOG)
        until(lambda: len(slow.requests) > 1, "the backlog is being walked")
        if way == "remove":
            ends.net.remove(ends.proxy)
            assert ends.net.proxies == []
        else:
            ends.net.stop()
            assert not ends.net._thread.is_alive()
            assert ends.net._loop.is_closed()
        assert 1 < len(slow.requests) < BACKLOG
        assert ends.proxy.connections == []
        _ends(ends.client)
        _ends(ends.broker)


def test_stop_names_blocked_callback_and_ends_after_its_return(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "STOP_LIMIT_S", 0.01)
    let_go = threading.Event()
    asking = Asking(on_request=lambda seen: cast("Any", _stands_still(let_go)))
    with proxied(interceptor=asking) as ends:
        ends.client.sendall(metadata(1) * BACKLOG)
        until(lambda: bool(asking.requests), "it stands still")
        with pytest.raises(TimeoutError, match="in _stands_still"):
            ends.net.stop()
        let_go.set()
        ends.net._thread.join(LIMIT_S)
        assert ends.net._loop.is_closed()
        _ends(ends.client)
        _ends(ends.broker)
        assert len(asking.requests) == 1


def _stands_still(let_go: threading.Event) -> None:
    let_go.wait()


class Failing(Proxy):
    """A proxy that fails to stop, with its connections open."""

    async def stop(self) -> None:
        self._stop_listening()
        raise LookupError("it does not stop")


def test_proxy_that_fails_to_stop_keeps_no_other_proxy_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        net = RunningProxies()
        net.__enter__()
        both = [kind("p", listener.getsockname()) for kind in (Failing, Proxy)]
        clients = [socket.create_connection(net.add(one), LIMIT_S) for one in both]
        brokers = [listener.accept()[0] for _ in both]
        with pytest.raises(LookupError, match="it does not stop"):
            net.stop()
        net.stop()
        assert not net._thread.is_alive()
        assert net._loop.is_closed()
        for one in (*clients, *brokers):
            with one:
                _ends(one)


def test_stop_names_and_closes_foreign_transport() -> None:
    net = RunningProxies()
    net.__enter__()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        async def connect() -> None:
            loop = asyncio.get_running_loop()
            await loop.create_connection(asyncio.Protocol, *listener.getsockname())

        net.wait_for(connect())
        peer = listener.accept()[0]
        with pytest.raises(ResourceWarning, match="unclosed resource <TCPTransport"):
            net.stop()
        assert not net._thread.is_alive()
        with peer:
            assert read_to_end(peer) == b""


def test_stop_of_never_started_proxies_closes_loop() -> None:
    net = RunningProxies()
    net.stop()
    assert net._loop.is_closed()


def test_a_second_stop_does_nothing() -> None:
    with proxied() as ends:
        ends.client.sendall(b"x")
        assert read(ends.broker, 1) == b"x"
        ends.net.stop()
        ends.net.stop()
        _ends(ends.broker)


def _ends(sock: socket.socket) -> None:
    """Assert that the connection ends, by FIN or by RST."""
    sock.settimeout(LIMIT_S)
    try:
        while sock.recv(65536):
            pass
    except ConnectionError:
        return


def test_stop_waits_until_no_connection_is_being_made() -> None:
    async def stop_after(turns: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as broker:
            proxy = Proxy("p", broker.getsockname())
            await proxy.start()
            with socket.create_connection(proxy.listen, LIMIT_S):
                for _ in range(turns):
                    await asyncio.sleep(0)
                await proxy.stop()
                assert (proxy.connections, proxy.pending_tasks) == ([], 0), turns

    for turns in range(16):
        asyncio.run(stop_after(turns))
