"""CONN, and CONF-043: the number of connections that a broker serves, and the others."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_request
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    AlterOperation,
    Resource,
    change,
    replace_all,
    set_key,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.healthy import expect_healthy, healthy

ALL_BROKERS: Resource = (BROKER, "")
OF_ADDRESS = "max.connections.per.ip"
MOST, LEAST = 10, 5
"""A broker's own connections to itself may be among them."""
SILENT_MS = 500
CHANGE_WITHIN_MS = 30_000


@judges("CONN-024")
@needs_broker(Use.OWN, {OF_ADDRESS: str(MOST)})
def test_refused_connections_make_no_room_for_others(broker: BrokerUnderTest) -> None:
    """After the first refusal twice as many connections as are allowed, one after the other."""
    with requirement("CONN-024"):
        _expect_all_served(_served_beside_refused(broker), broker)


def _served_beside_refused(broker: BrokerUnderTest) -> list[Connection]:
    """Connect so often, the first refused one included; return the connections that are served."""
    served: list[Connection] = []
    attempts = 0
    while attempts < 2 * MOST:
        newcomer = _served(broker)
        attempts += bool(attempts or newcomer is None)
        served += [newcomer] if newcomer is not None else []
        assert len(served) <= MOST, (
            f"{len(served)} connections of one address are served after refused ones, "
            f"{MOST} are allowed"
        )
    return served


def _expect_all_served(connections: Iterable[Connection], broker: BrokerUnderTest) -> None:
    for connection in connections:
        expect_healthy(connection, broker)


def _served(broker: BrokerUnderTest) -> Connection | None:
    """A new connection that has an answer; None for one that is closed."""
    try:
        connection = broker.connect()
        expect_healthy(connection, broker)
    except ConnectionClosed:
        return None
    return connection


@judges("CONN-034")
@needs_broker(Use.OWN, {"max.connections": str(MOST)})
def test_connection_beyond_max_connections_waits_for_end_of_another(
    broker: BrokerUnderTest,
) -> None:
    """Two wait, in their order: until a client closes a connection, and until the broker closes
    another for a frame that is too short."""
    with requirement("CONN-034"), ThreadPoolExecutor() as pool:
        served, first = _filled(broker, pool)
        second = pool.submit(_answered, broker)
        _expect_all_served(served, broker)
        served.pop().close()
        served.append(first.result())
        if _is_answered(second, broker):
            served.append(second.result())
            _expect_allowed(served)
        ended = served.pop(0)
        ended.send_frame(b"\0")
        ended.expect_closed()
        if second.result() not in served:
            served.append(second.result())
        _expect_all_served(served, broker)


def _filled(broker: BrokerUnderTest, pool: Executor) -> tuple[list[Connection], Future[Connection]]:
    """Connect until one is not served; return those that are served, and that one."""
    served = [broker.connect() for _ in range(LEAST)]
    _expect_all_served(served, broker)
    while _is_answered(newcomer := pool.submit(_answered, broker), broker):
        served.append(newcomer.result())
        _expect_allowed(served)
    return served, newcomer


def _expect_allowed(served: list[Connection]) -> None:
    assert len(served) <= MOST, f"{len(served)} connections are served, {MOST} are allowed"


def _answered(broker: BrokerUnderTest) -> Connection:
    """Return a new connection when it has an answer.

    In a thread of its own: behind TLS a connection that waits has not even shaken hands.
    """
    connection = broker.connect()
    connection.send_frame(encode_request(healthy(broker), 0, 1, ""))
    connection.receive_frame()
    return connection


def _is_answered(newcomer: Future[Connection], broker: BrokerUnderTest) -> bool:
    """True if the answer comes soon."""
    done, _ = wait([newcomer], broker.scaled_ms(SILENT_MS) / 1000)
    if done:
        newcomer.result()
    return bool(done)


@judges("CONF-043")
@needs_broker(Use.OWN)
def test_dynamic_max_connections_per_ip_holds_for_later_connections(
    broker: BrokerUnderTest,
) -> None:
    """Lowered while twice as many connections are served, which go on; then deleted."""
    broker.version("AlterConfigs")
    kept = [broker.connect() for _ in range(2 * MOST)]
    with requirement("CONF-043"):
        code = set_key(broker, ALL_BROKERS, OF_ADDRESS, str(MOST))
        expect_error(code, ErrorCode.NONE, f"{OF_ADDRESS} {MOST}")
        newcomer = broker.last_seen(partial(_served, broker), lambda one: one is None)
        assert newcomer is None, f"connection {len(kept) + 1} is served with {OF_ADDRESS} {MOST}"
        _expect_all_served(kept, broker)
        _close(kept)
        found = broker.last_seen(
            partial(_count_served, broker), lambda count: LEAST <= count <= MOST, CHANGE_WITHIN_MS
        )
        told = f"{found} new connections are served with {OF_ADDRESS} {MOST}"
        assert LEAST <= found <= MOST, told
        deleted = broker.last_seen(
            partial(_deleted, broker), lambda code: code is not None, CHANGE_WITHIN_MS
        )
        assert deleted == ErrorCode.NONE, f"the deletion of {OF_ADDRESS}: {deleted}"
        found = broker.last_seen(
            partial(_count_served, broker), lambda count: count == 2 * MOST, CHANGE_WITHIN_MS
        )
        assert found == 2 * MOST, f"{found} of {2 * MOST} are served without {OF_ADDRESS}"


def _count_served(broker: BrokerUnderTest) -> int:
    """Connect until one is refused, or twice the limit are served; close them all."""
    served: list[Connection] = []
    while len(served) < 2 * MOST and (newcomer := _served(broker)) is not None:
        served.append(newcomer)
    _close(served)
    return len(served)


def _close(connections: Iterable[Connection]) -> None:
    for connection in connections:
        connection.close()


def _deleted(broker: BrokerUnderTest) -> int | None:
    """Return the error of the config's deletion; None if the request's connection is refused."""
    try:
        if broker.advertised("IncrementalAlterConfigs"):
            return change(broker, ALL_BROKERS, (OF_ADDRESS, AlterOperation.DELETE, None))
        return replace_all(broker, ALL_BROKERS, {})
    except ConnectionClosed:
        return None
