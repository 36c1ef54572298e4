"""QUOTA, and FETCH-038: clients that send or read more than their quota (KIP-13, KIP-219)."""

from __future__ import annotations

import time

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.client.requests import produce_request as produce
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import FetchRequest, FetchResponse, ProduceRequest, ProduceResponse
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges
from suites.protocol.support.answers import expect_answers
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.client_quota import client_quota
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import CREATE_EPOCH, FINAL_EPOCH
from suites.protocol.support.healthy import expect_healthy, healthy
from suites.protocol.support.idempotent import code_of

BYTES_PER_S = 10_000
WINDOW_S = 10  # over which Apache Kafka takes the mean: ten whole seconds and the present one
DELAY_MS = 800
TIMERS_MAY_BE_EARLY = 0.9
BATCH_BYTES = 1_000
QUOTA_WORKS_WITHIN_MS = 10_000


def _produce_until_throttled(
    broker: BrokerUnderTest, connection: Connection, request: ProduceRequest, version: int
) -> tuple[int, float, float]:
    """Return the same as `_produce`, of the first response with a throttle time."""

    def asked() -> tuple[int, float, float] | None:
        found = _produce(connection, request, version)
        return found if found[0] > 0 else None

    return broker.eventually(asked, "a producer above its quota is told to wait")


def _produce(
    connection: Connection, request: ProduceRequest, version: int
) -> tuple[int, float, float]:
    """Return throttle time and response time in ms, and the monotonic time of the request."""
    sent_at = time.monotonic()
    answer: ProduceResponse = connection.ask(request, version)
    expect_error(code_of(answer), ErrorCode.NONE, "Produce")
    took_ms = (time.monotonic() - sent_at) * 1000
    return answer.throttle_time_ms, took_ms, sent_at


@judges("QUOTA-004")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_produce_above_quota_returns_throttle_time_and_mutes_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The first response arrives within its throttle time; the next response arrives after it.

    A broker learns of quotas in their order: a throttled client with the later quota shows that the
    first quota works, so that the client with the first one does not exceed it by much.
    """
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    size = BYTES_PER_S * (WINDOW_S + int(broker.scaled_ms(DELAY_MS)) / 1000)
    request = produce(topic, batch_of(b"x" * int(size)), api_version)
    with (
        client_quota(broker, client_id, "producer_byte_rate", BYTES_PER_S),
        client_quota(broker, later, "producer_byte_rate", BYTES_PER_S),
    ):
        connection = broker.connect(client_id)
        with requirement("QUOTA-004"):
            with in_time(broker.scaled_ms(DELAY_MS)):
                _produce_until_throttled(broker, broker.connect(later), request, api_version)
                told_ms, took_ms, sent_at = _produce(connection, request, api_version)
                assert told_ms > 0, "the first response above the quota has no throttle time"
                assert took_ms < told_ms, (
                    f"told to wait {told_ms} ms, the answer took {took_ms:.0f} ms"
                )
            expect_healthy(connection, broker)
            _expect_after(told_ms, sent_at)


def _expect_after(told_ms: int, sent_at: float) -> None:
    """The present answer follows one with this throttle time, to a request that was sent then."""
    next_ms = (time.monotonic() - sent_at) * 1000  # a broker mutes before it answers
    assert next_ms >= TIMERS_MAY_BE_EARLY * told_ms, (
        f"told to wait {told_ms} ms, the next answer came {next_ms:.0f} ms "
        f"after the request that was told so"
    )


@judges("QUOTA-004")
@at_versions("Produce", "3-8", "9+")
def test_requests_sent_with_throttled_produce_are_answered_in_order(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two small requests in one write with each Produce, until one is throttled: they wait.

    Their responses come after the throttle time. A client with a later quota is throttled first, as
    above.
    """
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    size = BYTES_PER_S * (WINDOW_S + int(broker.scaled_ms(DELAY_MS)) / 1000)
    request = produce(topic, batch_of(b"x" * int(size)), api_version)
    asked = [(request, api_version), (healthy(broker), 0), (healthy(broker), 0)]
    sent = b"".join(
        frame(encode_request(message, version, number, client_id))
        for number, (message, version) in enumerate(asked)
    )
    with (
        client_quota(broker, client_id, "producer_byte_rate", BYTES_PER_S),
        client_quota(broker, later, "producer_byte_rate", BYTES_PER_S),
    ):
        connection = broker.connect(client_id)

        def throttle_time_ms() -> int:
            sent_at = time.monotonic()
            connection.send_bytes(sent)
            payload = connection.receive_frame()
            _, answer = decode_response(api_named("Produce"), api_version, payload)
            assert isinstance(answer, ProduceResponse)
            expect_answers(connection, [1, 2])
            _expect_after(answer.throttle_time_ms, sent_at)
            return answer.throttle_time_ms

        with requirement("QUOTA-004"):
            _produce_until_throttled(broker, broker.connect(later), request, api_version)
            throttled_ms = broker.last_seen(throttle_time_ms, bool)
            assert throttled_ms > 0, "a producer above its quota is not throttled"


def _session_fetch(topic: Topic, version: int, session_id: int, epoch: int) -> FetchRequest:
    """Three batches from the beginning, in a session."""
    wanted = fetch_partition(0, partition_max_bytes=3 * BATCH_BYTES)
    request = fetch_request([fetch_topic(topic, version, [wanted])])
    request.session_id, request.session_epoch = session_id, epoch
    return request


def _await_throttled_fetch(
    broker: BrokerUnderTest, connection: Connection, topic: Topic, version: int
) -> None:
    """Wait until the client of this connection has used up its quota. Raises NotApplicable."""
    until = time.monotonic() + broker.scaled_ms(QUOTA_WORKS_WITHIN_MS) / 1000
    request = _session_fetch(topic, version, 0, FINAL_EPOCH)
    while connection.ask(request, version).throttle_time_ms == 0:
        if time.monotonic() > until:
            raise NotApplicable("byte_quota", "its quotas do not throttle")


FILL_BYTES = 52_000  # twice as much is above the quota of ten seconds, for 400 ms


@judges("QUOTA-005")
@at_versions("Fetch", "1-12", "13+")
def test_fetch_above_quota_is_empty_and_mutes_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The throttled answer has a throttle time and no records; the next answer comes after it."""
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    append(broker, topic, batch_of(b"x" * FILL_BYTES))
    with (
        client_quota(broker, client_id, "consumer_byte_rate", BYTES_PER_S),
        client_quota(broker, later, "consumer_byte_rate", BYTES_PER_S),
    ):
        connection = broker.connect(client_id)
        with requirement("QUOTA-005"):
            with in_time(broker.scaled_ms(DELAY_MS)):
                _fetch_until_throttled(broker, broker.connect(later), topic, api_version)
                answer, took_ms, sent_at = _fetch_until_throttled(
                    broker, connection, topic, api_version
                )
                told_ms, size = answer.throttle_time_ms, _records_bytes(answer)
                assert size == 0, f"throttled for {told_ms} ms, the answer has {size} bytes"
                assert took_ms < told_ms, (
                    f"throttled for {told_ms} ms, the answer took {took_ms:.0f} ms"
                )
            expect_healthy(connection, broker)
            next_ms = (time.monotonic() - sent_at) * 1000
            assert next_ms >= TIMERS_MAY_BE_EARLY * told_ms, (
                f"throttled for {told_ms} ms, the next answer came {next_ms:.0f} ms after"
            )


@judges("QUOTA-005")
def test_throttled_client_reads_on_after_its_throttle_time(broker: BrokerUnderTest) -> None:
    """The same connection fetches again until it has the records, when the mean is low enough."""
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    append(broker, topic, batch_of(b"x" * FILL_BYTES))
    version = broker.reading_version(topic)
    with (
        client_quota(broker, client_id, "consumer_byte_rate", BYTES_PER_S),
        client_quota(broker, later, "consumer_byte_rate", BYTES_PER_S),
    ):
        connection = broker.connect(client_id)
        with requirement("QUOTA-005"):
            _fetch_until_throttled(broker, broker.connect(later), topic, version)
            _fetch_until_throttled(broker, connection, topic, version)
            size = broker.last_seen(
                lambda: _records_bytes(connection.ask(_full_fetch(topic, version), version)),
                bool,
                3 * WINDOW_S * 1000,
            )
            assert size >= FILL_BYTES, f"after the throttle time a fetch has {size} bytes"


def _full_fetch(topic: Topic, version: int) -> FetchRequest:
    return fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])


def _records_bytes(answer: FetchResponse) -> int:
    parts = [part for topic in answer.responses for part in topic.partitions]
    return sum(len(record_bytes(part)) for part in parts)


def _fetch_until_throttled(
    broker: BrokerUnderTest, connection: Connection, topic: Topic, version: int
) -> tuple[FetchResponse, float, float]:
    """Return the throttled answer, its response time in ms, and the time of the request."""
    until = time.monotonic() + broker.scaled_ms(QUOTA_WORKS_WITHIN_MS) / 1000
    while time.monotonic() < until:
        sent_at = time.monotonic()
        answer = connection.ask(_full_fetch(topic, version), version)
        took_ms = (time.monotonic() - sent_at) * 1000
        if answer.throttle_time_ms > 0:
            return answer, took_ms, sent_at
    raise AssertionError("fetches above the quota are not throttled")


@judges("FETCH-038")
@at_versions("Fetch", "7-12", "13+")
def test_throttled_fetch_keeps_session_id_and_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Fetched again and again in one session until the quota is used up, and once more."""
    topic, client_id, later = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    append(broker, topic, *[batch_of(b"x" * BATCH_BYTES) for _ in range(4)])
    with (
        client_quota(broker, client_id, "consumer_byte_rate", BYTES_PER_S),
        client_quota(broker, later, "consumer_byte_rate", BYTES_PER_S),
    ):
        _await_throttled_fetch(broker, broker.connect(later), topic, api_version)
        connection = broker.connect(client_id)
        opening = connection.ask(_session_fetch(topic, api_version, 0, CREATE_EPOCH), api_version)
        if opening.session_id == 0:
            raise NotApplicable("fetch_sessions", "the broker refused a fetch session (id 0)")
        epoch = 0

        def next_fetch() -> FetchResponse:
            nonlocal epoch
            epoch += 1
            request = _session_fetch(topic, api_version, opening.session_id, epoch)
            answer = connection.ask(request, api_version)
            found = (ErrorCode.describe(answer.error_code), answer.session_id)
            expected = (ErrorCode.describe(ErrorCode.NONE), opening.session_id)
            told = f"epoch {epoch}, throttled for {answer.throttle_time_ms} ms: {found}"
            assert found == expected, f"{told}, expected {expected}"
            return answer

        with requirement("FETCH-038"):
            within_ms = broker.scaled_ms(QUOTA_WORKS_WITHIN_MS)
            with in_time(within_ms):
                until = time.monotonic() + within_ms / 1000
                while next_fetch().throttle_time_ms == 0:
                    assert time.monotonic() < until, "another client is throttled, this one is not"
            next_fetch()
