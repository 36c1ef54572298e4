"""The address at which Metadata lists a broker: a client reaches this broker there, no other."""

from __future__ import annotations

import ipaddress
import socket
from typing import TypeAlias

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved, ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeConfigsRequest, MetadataRequest, MetadataResponse

Listed: TypeAlias = MetadataResponse.MetadataResponseBroker
Place: TypeAlias = tuple[str, int]
BROKER = 4
"""The type of a broker's configs as a resource."""
PORTS = range(1, 65_536)
START_MS = 5_000
"""A broker that starts is listed a moment before it listens."""
CONNECT_MS = 5_000
MAPPED = "an access file's [addresses] maps it if only this machine reaches it elsewhere"
UNKNOWN_BROKER = {ErrorCode.INVALID_REQUEST, ErrorCode.BROKER_NOT_AVAILABLE}


def ask_brokers(connection: Connection, version: int) -> MetadataResponse:
    """Metadata without a topic; at v0 that means all topics."""
    return connection.ask(MetadataRequest(topics=[]), version, tolerant=True)


def expect_reached(broker: BrokerUnderTest, listed: Listed, cluster_id: str | None) -> None:
    """Expect this broker of this cluster there; ``broker``: the one that lists it."""
    place = (listed.host, listed.port)
    where = f"Metadata lists broker {listed.node_id} at {listed.host!r}, port {listed.port}"
    mapped = broker.reached.get(place)
    if mapped is None:
        problem = _no_address(broker, place)
        assert not problem, f"{where}: {problem}"
    try:
        found = _await_answer(broker, mapped or place)
    except BrokerMisbehaved as error:
        reason = f"{where}, and no client reaches it there: {error}; {MAPPED}"
        raise AssertionError(reason) from error
    assert found.cluster_id == cluster_id, (
        f"{where}, and a broker of cluster {found.cluster_id} answers there, not of {cluster_id}"
    )
    own = _is_own_id(broker, mapped or place, listed.node_id)
    assert own, f"{where}, and another broker answers there"


def _no_address(broker: BrokerUnderTest, place: Place) -> str:
    """Return what is wrong with an address that no client may receive; empty if nothing is."""
    host, port = place
    if not host.strip():
        return "the host is empty"
    if port not in PORTS:
        return "there is no such port"
    if _is_literal(host) and ipaddress.ip_address(host).is_unspecified:
        return "this address means all addresses of the broker's own machine"
    if _is_loopback(host) and not _is_loopback(broker.address[0]):
        return (
            f"clients elsewhere reach themselves there, and this one reaches the broker at "
            f"{broker.address[0]}; {MAPPED}"
        )
    return ""


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    """True if every address of the host is one of the loopback interface."""
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ipaddress.ip_address(one.partition("%")[0]).is_loopback for one in found)


def _await_answer(broker: BrokerUnderTest, place: Place) -> MetadataResponse:
    """The answer there; a refused connection is tried again for a while."""
    refused: list[ConnectionClosed] = []

    def ask() -> MetadataResponse | None:
        try:
            with broker.connect(timeout_ms=CONNECT_MS, through=place) as connection:
                return ask_brokers(connection, broker.version("Metadata"))
        except ConnectionClosed as error:
            refused.append(error)
            return None

    answer = broker.last_seen(ask, lambda found: found is not None, START_MS)
    if answer is None:
        raise refused[-1]
    return answer


def _is_own_id(broker: BrokerUnderTest, place: Place, node_id: int) -> bool:
    """False if the broker there describes no configs of a broker with this id.

    Kafka describes its own configs only (ConfigHelper). A broker that does not answer
    DescribeConfigs is taken for the listed one.
    """
    if not broker.advertised("DescribeConfigs"):
        return True
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(node_id), configuration_keys=["broker.id"]
    )
    request = DescribeConfigsRequest(resources=[resource])
    try:
        with broker.connect(timeout_ms=CONNECT_MS, through=place) as connection:
            answer = connection.ask(request, broker.version("DescribeConfigs"), tolerant=True)
    except BrokerMisbehaved:
        return True
    return all(one.error_code not in UNKNOWN_BROKER for one in answer.results)
