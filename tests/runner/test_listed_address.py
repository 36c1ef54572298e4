"""Addresses in Metadata that no client can use, each with its reason; see META-042."""

from __future__ import annotations

import socket
from collections.abc import Mapping

import pytest

from harness.base.address import Address
from harness.client.broker import BrokerUnderTest
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.messages import DescribeConfigsResponse, MetadataResponse
from suites.protocol.support import listed_address
from suites.protocol.support.listed_address import Listed, expect_reached
from tests.targets.wrong_brokers import Habit, api_of, listening, right

METADATA, DESCRIBE_CONFIGS = 3, 32
SERVED = {METADATA: (0, 9), DESCRIBE_CONFIGS: (1, 2), 18: (0, 3)}
CLUSTER = "stand-in"


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is tried once; silence is short."""
    monkeypatch.setattr(listed_address, "START_MS", 0)
    monkeypatch.setattr(listed_address, "CONNECT_MS", 300)


def node(own_id: int, cluster: str = CLUSTER) -> Habit:
    """A broker with this id, which describes its own configs only."""

    def habit(payload: bytes) -> bytes:
        key, version = api_of(payload)
        if key == METADATA:
            out = encode_response(MetadataResponse(cluster_id=cluster), version, 1)
        elif key == DESCRIBE_CONFIGS:
            named = b"".join((b"\x04\x00\x01", str(own_id).encode()))  # type and name
            result = DescribeConfigsResponse.DescribeConfigsResult(
                error_code=0 if named in payload else 42
            )
            response = DescribeConfigsResponse(results=[result])
            out = encode_response(response, version, 1)
        else:
            out = right(payload)
        return frame(payload[4:8] + out[4:])

    return habit


def problem_of(
    host: str,
    port: int,
    *,
    node_id: int = 1,
    first: str = "127.0.0.1",
    reached: Mapping[Address, Address] | None = None,
) -> str:
    """The reason of the failed check; empty if it holds."""
    client = BrokerUnderTest([(first, 9092)], SERVED, reached=dict((reached or {}).items()))
    try:
        expect_reached(client, Listed(node_id=node_id, host=host, port=port), CLUSTER)
    except AssertionError as error:
        return str(error)
    finally:
        client.close()
    return ""


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("", 9092, "the host is empty"),
        (" ", 9092, "the host is empty"),
        ("127.0.0.1", 0, "there is no such port"),
        ("127.0.0.1", -1, "there is no such port"),
        ("127.0.0.1", 65_536, "there is no such port"),
        ("0.0.0.0", 9092, "all addresses of the broker's own machine"),  # not bound
        ("::", 9092, "all addresses of the broker's own machine"),
        ("no-such-host.invalid", 9092, "no client reaches it there"),
        ("[::1]", 9092, "no client reaches it there"),
        ("127.0.0.1", 1, "no client reaches it there"),
        ("::1", 1, "no client reaches it there"),
    ],
)
def test_address_that_no_client_can_use_is_named_with_reason(
    host: str, port: int, said: str
) -> None:
    problem = problem_of(host, port)
    assert f"Metadata lists broker 1 at {host!r}, port {port}" in problem
    assert said in problem


@pytest.mark.parametrize(
    ("habit", "said"),
    [
        (node(1), ""),
        (node(2), "another broker answers there"),
        (node(1, "other"), "a broker of cluster other answers there, not of stand-in"),
        (lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n", "no client reaches it there"),
        (lambda _: None, "no client reaches it there"),
        (lambda _: b"", "no client reaches it there"),
    ],
)
def test_listener_at_address_has_to_be_that_broker(habit: Habit, said: str) -> None:
    with listening(habit) as address:
        problem = problem_of(*address)
    assert bool(problem) == bool(said)
    assert said in problem


def test_loopback_host_is_wrong_where_broker_is_reached_elsewhere() -> None:
    with listening(node(1)) as address:
        assert problem_of(*address, first="localhost") == ""
        problem = problem_of(*address, first="192.0.2.1")
    assert "clients elsewhere reach themselves there" in problem


def test_mapped_address_is_reached_where_access_file_says() -> None:
    listed = Address("kafka-1.invalid", 9092)
    with listening(node(1)) as address:
        assert problem_of(*listed, reached={listed: address}) == ""
        problem = problem_of(*listed)
    assert "an access file's [addresses] maps it" in problem


def test_ipv6_address_is_reached() -> None:
    if not socket.has_ipv6:
        pytest.skip("not run: no IPv6 on this machine")
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        assert "no client reaches it there" in problem_of("::1", server.getsockname()[1])
