"""CONN: how long a connection may be silent, and how many there may be."""

from __future__ import annotations

import time
from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.client.requests import fetch_partition, fetch_request, fetch_topic
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.answers import expect_answers
from suites.protocol.support.healthy import expect_healthy, healthy

IDLE_MS = 1_500
PAUSE_MS = IDLE_MS // 3
LARGEST_REQUEST_BYTES = 20_000
TIMERS_MAY_BE_EARLY = 0.9
CLOSED_WITHIN_MS = 20_000
MOST_OF_ONE_ADDRESS = 10  # a broker's own connections to itself may be among them
LEAST_OF_ONE_ADDRESS = MOST_OF_ONE_ADDRESS // 2


@judges("CONN-023")
@needs_broker(Use.OWN, {"connections.max.idle.ms": str(IDLE_MS)})
def test_idle_connection_is_closed_after_connections_max_idle_ms(broker: BrokerUnderTest) -> None:
    """Not before the limit, counted from the last request, and some time after it."""
    connection = broker.connect()
    with requirement("CONN-023"):
        asked_at = time.monotonic()  # a broker counts from later on, however late it is read
        expect_healthy(connection, broker)
        within_ms = broker.scaled_ms(CLOSED_WITHIN_MS)
        with in_time(within_ms):
            connection.expect_closed(within_ms)
        silent_ms = (time.monotonic() - asked_at) * 1000
        assert silent_ms >= TIMERS_MAY_BE_EARLY * IDLE_MS, (
            f"closed after {silent_ms:.0f} ms of silence, {IDLE_MS} ms are allowed"
        )


@judges("CONN-023")
@needs_broker(Use.OWN, {"connections.max.idle.ms": str(IDLE_MS)})
def test_connection_with_requests_is_not_idle(broker: BrokerUnderTest) -> None:
    """A request long before the limit each time, until the connection is older than twice that."""
    connection = broker.connect()
    with requirement("CONN-023"), in_time(IDLE_MS - PAUSE_MS):
        for _ in range(2 * IDLE_MS // PAUSE_MS + 1):
            expect_healthy(connection, broker)
            connection.expect_silence(for_ms=PAUSE_MS)
        expect_healthy(connection, broker)


@judges("CONN-023")
@needs_broker(Use.OWN, {"connections.max.idle.ms": str(IDLE_MS)})
def test_connection_that_sends_a_request_slowly_is_not_idle(broker: BrokerUnderTest) -> None:
    """A piece of a request long before the limit each time, for longer than twice the limit."""
    connection = broker.connect()
    sent = frame(_request_of(100, broker, 23))
    pieces = 2 * IDLE_MS // PAUSE_MS + 1
    with requirement("CONN-023"), in_time(IDLE_MS - PAUSE_MS):
        for number in range(pieces):
            connection.send_bytes(sent[number : number + 1])
            connection.expect_silence(for_ms=PAUSE_MS)
        connection.send_bytes(sent[pieces:])
        expect_answers(connection, [23])


@judges("CONN-032")
@needs_broker(Use.OWN, {"connections.max.idle.ms": str(IDLE_MS)})
def test_idle_connection_with_waiting_fetch_is_closed(broker: BrokerUnderTest) -> None:
    """Behind a request that is answered; the wait is twice as long as the close may take."""
    topic, version = broker.create_topic(), broker.version("Fetch")
    connection = broker.connect()
    within_ms = broker.scaled_ms(CLOSED_WITHIN_MS)
    wanted = [fetch_topic(topic, version, [fetch_partition(0)])]
    request = fetch_request(wanted, max_wait_ms=2 * int(within_ms), min_bytes=1)
    with requirement("CONN-032"), in_time(within_ms):
        expect_healthy(connection, broker)
        connection.send(request, version)
        connection.expect_closed(within_ms)


@judges("CONN-010")
@needs_broker(Use.TUNED, {"socket.request.max.bytes": str(LARGEST_REQUEST_BYTES)})
def test_request_of_socket_request_max_bytes_is_answered_and_no_larger_one(
    broker: BrokerUnderTest,
) -> None:
    """A frame of just that size, and one that is a byte larger."""
    with requirement("CONN-010"):
        connection = broker.connect()
        for correlation_id in range(2):
            connection.send_frame(_request_of(LARGEST_REQUEST_BYTES, broker, correlation_id))
            expect_answers(connection, [correlation_id])
        connection.send_frame(_request_of(LARGEST_REQUEST_BYTES + 1, broker, 2))
        connection.expect_closed()


def _request_of(size_bytes: int, broker: BrokerUnderTest, correlation_id: int) -> bytes:
    """A request of version 0 that a long client id makes so large."""
    bare_bytes = len(encode_request(healthy(broker), 0, correlation_id, ""))
    client_id = "c" * (size_bytes - bare_bytes)
    return encode_request(healthy(broker), 0, correlation_id, client_id)


@judges("CONN-024")
@needs_broker(Use.OWN, {"max.connections.per.ip": str(MOST_OF_ONE_ADDRESS)})
def test_connections_beyond_max_connections_per_ip_are_closed(broker: BrokerUnderTest) -> None:
    """One after the other until one is closed; those before it are served as ever.

    They are at least half of the limit, and one that ends makes room for another: one that the
    client closes, and one that the broker closes for a frame that is too short.
    """
    served: list[Connection] = []
    with requirement("CONN-024"):
        while (newcomer := _served(broker)) is not None:
            served.append(newcomer)
            assert len(served) <= MOST_OF_ONE_ADDRESS, (
                f"{len(served)} connections of one address are served, "
                f"{MOST_OF_ONE_ADDRESS} are allowed"
            )
        assert len(served) >= LEAST_OF_ONE_ADDRESS, (
            f"only {len(served)} connections are served, {MOST_OF_ONE_ADDRESS} are allowed"
        )
        for connection in served:
            expect_healthy(connection, broker)
        served.pop().close()
        served.append(_in_place_of_another(broker))
        _closed_by_broker(served.pop())
        served.append(_in_place_of_another(broker))
        for connection in served:
            expect_healthy(connection, broker)


def _in_place_of_another(broker: BrokerUnderTest) -> Connection:
    """Return a connection that is served as soon as another has ended."""
    newcomer = broker.last_seen(partial(_served, broker), lambda one: one is not None)
    assert newcomer is not None, "a connection has ended, and no other one is served"
    return newcomer


def _closed_by_broker(connection: Connection) -> None:
    """Send what no request is, and see the end of the connection."""
    connection.send_frame(b"\0")
    connection.expect_closed()


def _served(broker: BrokerUnderTest) -> Connection | None:
    """A new connection that has an answer; None for one that is closed."""
    try:
        connection = broker.connect()
        expect_healthy(connection, broker)
    except ConnectionClosed:
        return None
    return connection
