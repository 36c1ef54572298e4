"""QUOTA: the client for which a request counts, and requests without a response."""

from __future__ import annotations

import time
from urllib.parse import quote

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.requests import produce_request as produce
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest, ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.client_quota import client_quota
from suites.protocol.support.expect import expect_error
from suites.protocol.support.healthy import expect_healthy
from suites.protocol.support.idempotent import code_of
from suites.protocol.support.quota_admin import (
    CLIENT_ID,
    EXACT,
    PRODUCER,
    QUOTA_WITHIN_MS,
    describe_quotas,
    entity,
    quotas_in,
)

BYTES_PER_S = 10_000
WINDOW_S = 10  # over which Apache Kafka takes the mean of a young client
DELAY_MS = 800
TIMERS_MAY_BE_EARLY = 0.9
ODD_ENDING = ' %/\u00fc:*?"=,@<x>'


def _above_quota(broker: BrokerUnderTest) -> bytes:
    """A batch that is above the quota for DELAY_MS."""
    size = BYTES_PER_S * (WINDOW_S + broker.scaled_ms(DELAY_MS) / 1000)
    return batch_of(b"x" * int(size))


def _throttle_ms(
    connection: Connection, request: ProduceRequest, version: int, client_id: str
) -> int:
    """Send the request with this client id; return the throttle time of its response."""
    connection.send(request, version, client_id=client_id)
    answer = connection.receive()
    assert isinstance(answer, ProduceResponse)
    expect_error(code_of(answer), ErrorCode.NONE, f"Produce of {client_id}")
    return answer.throttle_time_ms


def _await_quota(
    broker: BrokerUnderTest, request: ProduceRequest, version: int, client_id: str
) -> None:
    """Produce on new connections until this client is throttled."""

    def throttle_ms() -> int | None:
        with broker.connect() as connection:
            return _throttle_ms(connection, request, version, client_id) or None

    broker.eventually(throttle_ms, "a producer above its quota is throttled")


@judges("QUOTA-004")
def test_produce_without_acks_above_quota_mutes_connection(broker: BrokerUnderTest) -> None:
    """The next request is answered after the time by which the batch is above the quota.

    A broker learns of quotas in their order: a throttled client with the later quota shows that the
    first one works.
    """
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    version, batch = broker.version("Produce", "3+"), _above_quota(broker)
    with (
        client_quota(broker, client_id, PRODUCER, BYTES_PER_S),
        client_quota(broker, later, PRODUCER, BYTES_PER_S),
    ):
        connection = broker.connect(client_id)
        with requirement("QUOTA-004"):
            _await_quota(broker, produce(topic, batch, version), version, later)
            sent_at = time.monotonic()
            connection.send(produce(topic, batch, version, acks=0), version)
            expect_healthy(connection, broker)
            waited_ms = (time.monotonic() - sent_at) * 1000
            least_ms = TIMERS_MAY_BE_EARLY * broker.scaled_ms(DELAY_MS)
            assert waited_ms >= least_ms, (
                f"after a Produce with acks=0 that is {broker.scaled_ms(DELAY_MS):.0f} ms above "
                f"the quota the next request is answered in {waited_ms:.0f} ms"
            )


@judges("QUOTA-008")
def test_each_request_of_a_connection_counts_for_its_own_client_id(
    broker: BrokerUnderTest,
) -> None:
    """A client without a quota, one with a quota, and the first again, on one connection."""
    topic, free, bound, later = broker.create_topic(), *(broker.unique_topic() for _ in range(3))
    version = broker.version("Produce", "3+")
    request = produce(topic, _above_quota(broker), version)
    with (
        client_quota(broker, bound, PRODUCER, BYTES_PER_S),
        client_quota(broker, later, PRODUCER, BYTES_PER_S),
    ):
        connection = broker.connect(free)
        with requirement("QUOTA-008"):
            _await_quota(broker, request, version, later)
            found_ms = _throttle_ms(connection, request, version, free)
            assert found_ms == 0, f"a client without a quota is throttled for {found_ms} ms"
            found_ms = _throttle_ms(connection, request, version, bound)
            assert found_ms > 0, "another client on the same connection is not throttled"
            found_ms = _throttle_ms(connection, request, version, free)
            assert found_ms == 0, f"the first client is then throttled for {found_ms} ms"


@judges("QUOTA-025")
def test_quota_holds_for_client_id_with_any_characters(broker: BrokerUnderTest) -> None:
    """It is described and in effect; the escaped form of the client id is another client."""
    topic, client_id = broker.create_topic(), broker.unique_topic() + ODD_ENDING
    version, of = broker.version("Produce", "3+"), entity(client_id=client_id)
    request = produce(topic, _above_quota(broker), version)
    with client_quota(broker, client_id, PRODUCER, BYTES_PER_S), requirement("QUOTA-025"):
        expected = {frozenset(of): {PRODUCER: float(BYTES_PER_S)}}
        found = broker.last_seen(
            lambda: quotas_in(describe_quotas(broker, [(CLIENT_ID, EXACT, client_id)])),
            lambda found: found == expected,
            QUOTA_WITHIN_MS,
        )
        assert found == expected, f"described quotas of {client_id!r}: {found}"
        _await_quota(broker, request, version, client_id)
        with broker.connect() as connection:
            escaped = quote(client_id)
            found_ms = _throttle_ms(connection, request, version, escaped)
            assert found_ms == 0, f"{escaped} is throttled for {found_ms} ms"
