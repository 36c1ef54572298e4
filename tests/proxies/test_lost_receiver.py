"""A receiver that is gone while bytes are on their way: no warnings, and the sender notices."""

from __future__ import annotations

import socket
import struct

import pytest

from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ApiVersionsRequest
from harness.proxies.proxy import Proxy
from harness.proxies.rules import RuleSet, requests
from harness.proxies.running import RunningProxies
from tests.proxies.ends import LIMIT_S, read_to_end
from tests.targets.round_trip import eventually

FRAMES = 50


def test_frames_released_to_closed_broker_log_no_warnings(caplog: pytest.LogCaptureFixture) -> None:
    """Otherwise asyncio warns of each write after the first failed one."""
    rules = RuleSet(requests().named("held").hold(at_most_ms=1e6), now_ms=lambda: 0.0)
    message = frame(encode_request(ApiVersionsRequest(), 2, 1))
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        RunningProxies() as net,
    ):
        listener.settimeout(LIMIT_S)
        address = net.add(Proxy("p", listener.getsockname(), interceptor=rules))
        with socket.create_connection(address, LIMIT_S) as client:
            client.sendall(message * FRAMES)
            broker, _ = listener.accept()
            assert eventually(
                lambda: net.call(lambda: rules.counts("held").fired) == FRAMES or None, "all held"
            )
            net.call(lambda: end_and_release(broker, rules))
            assert read_to_end(client) == b""
    assert [record.getMessage() for record in caplog.records] == []


def end_and_release(broker: socket.socket, rules: RuleSet) -> None:
    """End the broker on the loop, before the proxy can see the end, and release all frames."""
    broker.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    broker.close()
    rules.disarm()
