"""Requests that wait until the broker has memory for them, over real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from harness.client.connection import Connection
from harness.client.errors import ResponseTimeout
from harness.codec.apis import api_named
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ApiVersionsRequest, FindCoordinatorRequest, JoinGroupRequest
from harness.codec.structs import Message
from harness.reference_broker.request_memory import keeps_request
from labs.hang_limit import HANGS_AFTER_S
from tests.reference_broker.running import Address, create_topic, running_broker
from tests.reference_broker.test_server import fetch, send_up_to

LARGEST = 20_000
LIMITS = {"socket.request.max.bytes": str(LARGEST), "queued.max.request.bytes": str(LARGEST)}
SILENT_MS = 300


@pytest.fixture
def address() -> Iterator[Address]:
    with running_broker(LIMITS) as found:
        yield found


def request_of(size: int, message: Message, version: int) -> bytes:
    """Return a frame with so many bytes behind its length; what follows the request is ignored."""
    request = encode_request(message, version, 5)
    return frame(request + bytes(size - len(request)))


def is_served(address: Address) -> bool:
    """True if a new connection gets a response soon."""
    with Connection(address, timeout_ms=SILENT_MS) as connection:
        try:
            connection.ask(ApiVersionsRequest(), 0)
        except ResponseTimeout:
            return False
        return True


@pytest.mark.parametrize("left_bytes", [0, 1])
def test_request_is_served_when_memory_is_left(address: Address, left_bytes: int) -> None:
    with socket.create_connection(address, HANGS_AFTER_S) as first:
        first.sendall(request_of(LARGEST - left_bytes, ApiVersionsRequest(), 0)[:-1])
        assert is_served(address) is (left_bytes > 0)


def test_waiting_requests_are_served_when_memory_is_free(address: Address) -> None:
    """Two on one connection, one on another, and one of a client that sends no more."""
    with Connection(address) as one, Connection(address) as other:
        with socket.create_connection(address, HANGS_AFTER_S) as first:
            first.sendall(request_of(LARGEST, ApiVersionsRequest(), 0)[:-1])
            assert not is_served(address)
            for connection in (one, one, other):
                connection.send(ApiVersionsRequest(), 0)
            other.end_sending()
            one.expect_silence(SILENT_MS)
        for connection in (one, one, other):
            connection.receive()
        other.expect_closed()


def test_client_that_sends_is_stopped_while_memory_is_used(address: Address) -> None:
    large = request_of(LARGEST, ApiVersionsRequest(), 0)
    with (
        socket.create_connection(address, HANGS_AFTER_S) as first,
        socket.create_connection(address, HANGS_AFTER_S) as second,
    ):
        first.sendall(large[:-1])
        second.settimeout(SILENT_MS / 1000)
        with pytest.raises(TimeoutError):
            send_up_to(second, large, 100_000_000)


def test_waiting_fetch_needs_no_memory_and_waiting_join_does(address: Address) -> None:
    create_topic(address, "empty")
    with Connection(address) as connection:
        connection.ask(FindCoordinatorRequest(key="g"), 1)
    joins = JoinGroupRequest(
        group_id="g", session_timeout_ms=10_000, rebalance_timeout_ms=10_000,
        protocol_type="t", protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="p")],
    )  # fmt: skip
    waiting = {True: (fetch("empty"), 4), False: (joins, 2)}
    for serves, (message, version) in waiting.items():
        with socket.create_connection(address, HANGS_AFTER_S) as first:
            first.sendall(request_of(LARGEST, message, version))
            assert is_served(address) is serves


def test_requests_with_bytes_keep_their_memory() -> None:
    names = ("Produce", "JoinGroup", "SyncGroup", "Fetch", "DeleteRecords", "Metadata")
    keeps = [name for name in names if keeps_request(api_named(name).key)]
    assert keeps == ["Produce", "JoinGroup", "SyncGroup"]
