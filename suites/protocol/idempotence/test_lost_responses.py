"""IDEM: answers that are lost on their way to the producer, or late."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.faults import Faults, requests, responses
from harness.runner.marks import at_versions, judges
from suites.protocol.support.idempotent import expect_taken, new_producer, send_at_once
from suites.protocol.support.partition_log import keys_and_values, stored_batches

VALUES = [b"first", b"second"]
IN_FLIGHT = [b"%d in flight" % number for number in range(5)]  # as many as a producer may have
LOST_AT = 3
PATIENCE_MS = 5_000
CLIENT = "IDEM-017"


def _expect_stored(broker: BrokerUnderTest, topic: Topic, values: list[bytes]) -> None:
    stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
    assert stored == values, f"the log holds {stored}, expected each value once"


@judges("IDEM-017")
@at_versions("Produce", "3-8", "9-12", "13+")
@pytest.mark.parametrize("lost", ["close", "reset"])
def test_retry_after_lost_produce_response_is_stored_once(
    broker: BrokerUnderTest, faults: Faults, api_version: int, lost: str
) -> None:
    """Each of two batches is appended, its answer is lost with the connection, it is sent again.

    How a repeated batch is acknowledged, IDEM-005 says; here it may be called a duplicate too.
    """
    topic, producer = broker.create_topic(), new_producer(broker)
    rule = getattr(responses("Produce").nth(1, 3), lost)("before")
    with requirement("IDEM-017"), faults.path(rule) as path:
        for sequence, value in enumerate(VALUES):
            request = producer.request(topic, api_version, sequence, value)
            with pytest.raises(ConnectionClosed):
                broker.connect(CLIENT, through=path.address).ask(request, api_version)
            retried = broker.connect(CLIENT, through=path.address).ask(request, api_version)
            expect_taken(retried, f"the retry of batch {sequence}")
        path.expect_fired(at_least=len(VALUES))
        _expect_stored(broker, topic, VALUES)


@judges("IDEM-017")
@at_versions("Produce", "3-8", "9-12", "13+")
@pytest.mark.parametrize("lost", ["close", "reset"])
def test_retry_of_in_flight_batches_after_disconnect_stores_each_once(
    broker: BrokerUnderTest, faults: Faults, api_version: int, lost: str
) -> None:
    """Five batches are sent at once, and no answer comes: the connection ends at the third. All
    are sent again, those that were appended and those that perhaps were not.

    A broker that remembers fewer (0.11: the last one) calls older ones out of order, see IDEM-006.
    """
    topic, producer = broker.create_topic(), new_producer(broker)
    sent = [producer.request(topic, api_version, *each) for each in enumerate(IN_FLIGHT)]
    unheard = responses("Produce").first(LOST_AT - 1).drop()
    end = getattr(responses("Produce").nth(LOST_AT), lost)("before")
    with requirement("IDEM-017"):
        with faults.path(unheard, end) as path:
            connection = broker.connect(CLIENT, through=path.address)
            send_at_once(connection, sent, api_version)
            connection.expect_closed()
            path.expect_fired()
        again = broker.connect(CLIENT)
        send_at_once(again, sent, api_version)
        for sequence in range(len(sent)):
            forgotten = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            expect_taken(again.receive(), f"the retry of batch {sequence}", forgotten)
        _expect_stored(broker, topic, IN_FLIGHT)


@judges("IDEM-017")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_pipelined_retry_on_same_connection_is_stored_once(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """On the same connection, while the answer to the original is still to come."""
    topic, producer = broker.create_topic(), new_producer(broker)
    request = producer.request(topic, api_version, 0, VALUES[0])
    connection = broker.connect(CLIENT)
    with requirement("IDEM-017"):
        send_at_once(connection, [request] * 3, api_version)
        for copy in ("the original", "the first retry", "the second retry"):
            expect_taken(connection.receive(), copy)
        _expect_stored(broker, topic, VALUES[:1])


@judges("IDEM-017")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_concurrent_original_and_retry_on_two_connections_are_stored_once(
    broker: BrokerUnderTest, faults: Faults, api_version: int
) -> None:
    """The original is held up on its way until the retry is there, on another connection."""
    topic, producer = broker.create_topic(), new_producer(broker)
    request = producer.request(topic, api_version, 0, VALUES[0])
    retry = requests("Produce").nth(2).named("the retry").watch()
    original = requests("Produce").nth(1).hold(until=retry, at_most_ms=PATIENCE_MS)
    with requirement("IDEM-017"), faults.path(retry, original) as path:
        connections = [broker.connect(CLIENT, through=path.address) for _ in range(2)]
        for connection in connections:
            connection.send(request, api_version)
        for connection, copy in zip(connections, ("the original", "the retry"), strict=True):
            expect_taken(connection.receive(), copy)
        path.expect_fired()
        _expect_stored(broker, topic, VALUES[:1])
