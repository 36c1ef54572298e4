"""With rewriting off and no rule bytes and order are identical, in every way of working."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.proxies.interceptor import Interceptor
from harness.proxies.limits import ProxyLimits
from harness.proxies.proxy import Proxy
from harness.proxies.running import RunningProxies
from tests.proxies.ends import in_background, read, read_to_end
from tests.proxies.engine.proxied import (
    Asking,
    answer,
    fetch,
    is_silent,
    metadata,
    produce,
    proxied,
    until,
)
from tests.proxies.test_transparency import CUTS, cut

FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
UP = st.sampled_from(
    [metadata(1), fetch(2), produce(3, 0), produce(4, 1), b"\xff\xff\xff\xff", fetch(1) * 300]
)
DOWN = st.sampled_from([answer(1), answer(2, bytes(70_000)), answer(4), b"\xff\xff\xff\xff"])
JUNK = st.binary(max_size=40)
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "counting": {"count_frames": True},
    "idle": {"interceptor": Interceptor()},
    "wants everything": {"interceptor": Asking()},
    "wants everything, small limits": {
        "interceptor": Asking(),
        "limits": ProxyLimits(
            collected_bytes=50, held_bytes=100, kept_bytes=100, collected_in_all=60
        ),
    },
}


@pytest.mark.parametrize("way", WAYS)
@FEW
@given(
    up=st.lists(UP | JUNK, max_size=5).map(b"".join),
    down=st.lists(DOWN | JUNK, max_size=5).map(b"".join),
    up_cuts=CUTS,
    down_cuts=CUTS,
)
def test_proxy_passes_bytes_in_order_and_keeps_half_closes(
    way: str, up: bytes, down: bytes, up_cuts: list[float], down_cuts: list[float]
) -> None:
    with proxied(**WAYS[way]) as ends:
        sender = in_background(ends.client, cut(up, up_cuts), end=True)
        assert read_to_end(ends.broker) == up
        sender.join()
        sender = in_background(ends.broker, cut(down, down_cuts), end=True)
        assert read_to_end(ends.client) == down
        sender.join()
        assert list(ends.proxy.errors) == []
        assert ends.proxy.counters.upstream.bytes == len(up)
        assert ends.proxy.counters.downstream.bytes == len(down)


def test_unwanted_frame_is_forwarded_before_it_is_complete() -> None:
    with proxied(interceptor=Interceptor()) as ends:
        whole = answer(1, bytes(100))
        ends.client.sendall(metadata(1)[:14])
        assert read(ends.broker, 14) == metadata(1)[:14]
        ends.broker.sendall(whole[:10])
        assert read(ends.client, 10) == whole[:10]


def test_frames_are_counted_by_api_and_version() -> None:
    with proxied(count_frames=True) as ends:
        sent = metadata(1) + fetch(2) + produce(3, 0) + fetch(4)
        ends.client.sendall(sent)
        read(ends.broker, len(sent))
        back = answer(1, b"m") + answer(2, b"ff") + answer(4, b"ff") + answer(5)
        ends.broker.sendall(back)
        assert read(ends.client, len(back)) == back
        counters = ends.proxy.counters
        up = {kind: one.frames for kind, one in counters.upstream.by_api.items()}
        down = {
            kind: (one.frames, one.frame_bytes) for kind, one in counters.downstream.by_api.items()
        }
        assert up == {(3, 1): 1, (1, 4): 2, (0, 9): 1}
        assert down == {(3, 1): (1, 9), (1, 4): (2, 20), (-1, -1): (1, 8)}
        assert (counters.accepted, counters.open, counters.unasked) == (1, 1, 1)
        assert counters.to_json()["upstream"]["frames"] == 4


def test_oversize_response_bypasses_interceptor_and_is_counted() -> None:
    asking = Asking()
    with proxied(interceptor=asking, limits=ProxyLimits(collected_bytes=64)) as ends:
        sent = fetch(1) + produce(2, 1)
        assert len(fetch(1)) < 64
        large = answer(1, bytes(100))
        ends.client.sendall(sent)
        read(ends.broker, len(sent))
        ends.broker.sendall(large + answer(2))
        assert read(ends.client, len(large + answer(2))) == large + answer(2)
        assert ends.proxy.counters.downstream.too_large == 1
        assert [seen.request.ordinal for seen in asking.responses] == [1]


@pytest.mark.rotates(8)
def test_slow_receiver_stops_sender_and_held_bytes_stay_bounded() -> None:
    limits = ProxyLimits(held_bytes=100_000)
    with proxied(receive_bytes=16 * 1024, limits=limits, interceptor=Interceptor()) as ends:
        total = 64_000_000  # more than sockets in between can be made to take
        sender = in_background(ends.broker, [answer(1, bytes(9_992))] * (total // 10_000), end=True)
        most = 0
        for _ in range(50):
            threading.Event().wait(0.005)
            most = max(most, ends.held_bytes())
        assert sender.is_alive(), "all went through without a reader"
        assert 0 < most <= 64 * 1024 + 256 * 1024 + 100_000
        assert len(read_to_end(ends.client)) == total
        sender.join()


@pytest.mark.rotates(8)
def test_thousand_open_connections_each_pass_request_and_response() -> None:
    with proxied(interceptor=Interceptor()) as ends:
        pairs = [ends.another() for _ in range(1000)]
        try:
            assert len(ends.proxy.connections) == 1001
            for number, (client, _) in enumerate(pairs):
                client.sendall(metadata(number))
            for number, (_, broker) in enumerate(pairs):
                assert read(broker, len(metadata(0))) == metadata(number)
                broker.sendall(answer(number))
            for number, (client, _) in enumerate(pairs):
                assert read(client, 8) == answer(number)
        finally:
            for pair in pairs:
                for sock in pair:
                    sock.close()
        until(lambda: len(ends.proxy.connections) == 1, "the others are gone")


def test_connection_above_limit_waits_until_another_closes() -> None:
    with proxied(limits=ProxyLimits(connections=2)) as ends:
        with socket.create_connection(ends.proxy.listen, 10) as second:
            with socket.create_connection(ends.proxy.listen, 10) as third:
                ends.listener.accept()[0].close()  # the second's
                assert read_to_end(second) == b""
                second.close()
                third.sendall(b"x")
                broker = ends.listener.accept()[0]
                with broker:
                    broker.settimeout(10)
                    assert read(broker, 1) == b"x"
                assert ends.proxy.counters.accepted == 3


# -- killed proxies and processes -----------------------------------------------------------------


def test_proxy_stopped_under_traffic_closes_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with RunningProxies() as net:
            address = net.add(Proxy("p", listener.getsockname(), interceptor=Asking()))
            client = socket.create_connection(address, 10)
            broker = listener.accept()[0]
            sender = threading.Thread(target=_send_until_it_fails, args=(client,))
            sender.start()
            read(broker, 10_000)
        with client, broker:
            sender.join(10)
            assert not sender.is_alive()
            broker.settimeout(10)
            _read_until_it_ends(broker)


def test_process_killed_under_traffic_closes_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "bench.proxy.ours", "idle"]
        port = str(listener.getsockname()[1])
        with subprocess.Popen(
            [*command, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            client = socket.create_connection(("127.0.0.1", int(process.stdout.readline())), 10)
            broker = listener.accept()[0]
            with client, broker:
                broker.settimeout(10)
                sender = threading.Thread(target=_send_until_it_fails, args=(client,))
                sender.start()
                read(broker, 10_000)
                os.kill(process.pid, signal.SIGKILL)
                sender.join(10)
                assert not sender.is_alive()
                _read_until_it_ends(broker)


def _send_until_it_fails(sock: socket.socket) -> None:
    try:
        while True:
            sock.sendall(metadata(1) * 100)
    except OSError:
        return


def _read_until_it_ends(sock: socket.socket) -> None:
    try:
        while sock.recv(65536):
            pass
    except ConnectionError:
        return


# -- fuzz ----------------------------------------------------------------------------------------


@pytest.mark.rotates(8)
@pytest.mark.parametrize("way", ["idle", "wants everything, small limits"])
@settings(max_examples=60)
@given(up=st.binary(max_size=400), down=st.binary(max_size=400))
def test_arbitrary_bytes_pass_proxy_without_errors(way: str, up: bytes, down: bytes) -> None:
    with proxied(**WAYS[way]) as ends:
        ends.client.sendall(up)
        ends.broker.sendall(down)
        ends.client.shutdown(socket.SHUT_WR)
        assert read_to_end(ends.broker) == up
        assert ends.held_bytes() <= 500
        ends.broker.shutdown(socket.SHUT_WR)
        assert read_to_end(ends.client) == down
        assert list(ends.proxy.errors) == []
        until(lambda: not ends.proxy.connections, "the connection is gone")


def test_idle_connection_stays_open_and_silent() -> None:
    with proxied() as ends:
        assert is_silent(ends.client)
