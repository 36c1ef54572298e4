"""QUOTA: the quota that is in effect for a client, and the clients that share it (KIP-55)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.client.requests import produce_request as produce
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ListGroupsRequest,
    MetadataRequest,
    ProduceResponse,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.client_quota import fetched_by
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import code_of
from suites.protocol.support.principals import user_of_run
from suites.protocol.support.quota_admin import (
    CONSUMER,
    PERCENTAGE,
    PRODUCER,
    QUOTA_WITHIN_MS,
    entity,
    prepare_quotas,
    quota,
)

LITTLE, LOWERED, HUGE = 1_000.0, 1_500.0, 1e12  # bytes per second
ABOVE = batch_of(b"x" * 20 * int(LITTLE))  # more than LITTLE in the ten seconds of the mean
SMALL = batch_of(b"x")
OWN_BYTES = "QUOTA-016"  # the beginning of its client ids
STAYS_ABOVE_MS = 5_000  # the mean contains a batch for at least so long


def _produced(broker: BrokerUnderTest, topic: Topic, client_id: str, batch: bytes) -> int:
    """Return the throttle time in ms of a Produce on a new connection, which is not muted."""
    version = broker.version("Produce")
    with broker.connect(client_id) as connection:
        answer: ProduceResponse = connection.ask(produce(topic, batch, version), version)
    expect_error(code_of(answer), ErrorCode.NONE, "Produce")
    return answer.throttle_time_ms


def _fetched(broker: BrokerUnderTest, topic: Topic, client_id: str) -> int:
    """Return the throttle time in ms of a Fetch on a new connection."""
    version = broker.reading_version(topic)
    return fetched_by(client_id, broker, topic, version).throttle_time_ms


def _expect_throttled(broker: BrokerUnderTest, topic: Topic, client_id: str, when: str) -> None:
    throttle_ms = broker.last_seen(
        lambda: _produced(broker, topic, client_id, ABOVE), bool, QUOTA_WITHIN_MS
    )
    assert throttle_ms > 0, f"{when}: the client is not throttled"


def _expect_free(broker: BrokerUnderTest, topic: Topic, client_id: str, when: str) -> None:
    throttle_ms = broker.last_seen(
        lambda: _produced(broker, topic, client_id, ABOVE), lambda ms: ms == 0, QUOTA_WITHIN_MS
    )
    assert throttle_ms == 0, f"{when}: the client is throttled for {throttle_ms} ms"


@judges("QUOTA-007")
@needs_broker(Use.OWN)
def test_most_specific_client_quota_is_in_effect(broker: BrokerUnderTest) -> None:
    """Each level comes above the ones before with a value that has the opposite effect; then each
    goes again, the highest first, and the next one is in effect."""
    broker.version("AlterClientQuotas")
    topic, client_id, user = broker.create_topic(), broker.unique_topic(), user_of_run(broker)
    levels = [
        (entity(client_id=None), LITTLE),
        (entity(client_id=client_id), HUGE),
        (entity(user=None), LITTLE),
        (entity(None, None), HUGE),
        (entity(None, client_id), LITTLE),
        (entity(user=user), HUGE),
        (entity(user, None), LITTLE),
        (entity(user, client_id), HUGE),
    ]
    with requirement("QUOTA-007"):
        for of, rate in levels:
            prepare_quotas(broker, quota(of, {PRODUCER: rate}))
            expect = _expect_throttled if rate == LITTLE else _expect_free
            expect(broker, topic, client_id, f"{rate} for {dict(of)} above all lower ones")
        for (gone, _), (of, rate) in zip(levels[:0:-1], levels[-2::-1], strict=True):
            prepare_quotas(broker, quota(gone, {PRODUCER: None}))
            expect = _expect_throttled if rate == LITTLE else _expect_free
            expect(broker, topic, client_id, f"{rate} for {dict(of)}, none for {dict(gone)}")


@judges("QUOTA-008")
@needs_broker(Use.OWN)
def test_client_id_shares_its_quota_with_no_other_client_id(broker: BrokerUnderTest) -> None:
    """Under a default quota: a second connection of a throttled client is throttled, another client
    is not, until it sends as much itself."""
    broker.version("AlterClientQuotas")
    topic, client_id, other = broker.create_topic(), broker.unique_topic(), broker.unique_topic()
    prepare_quotas(broker, quota(entity(client_id=None), {PRODUCER: LITTLE}))
    with requirement("QUOTA-008"), in_time(broker.scaled_ms(STAYS_ABOVE_MS)):
        _expect_throttled(broker, topic, client_id, "a default for each client")
        throttle_ms = _produced(broker, topic, client_id, SMALL)
        assert throttle_ms > 0, "another connection of the client is not throttled"
        throttle_ms = _produced(broker, topic, other, SMALL)
        assert throttle_ms == 0, f"another client is throttled for {throttle_ms} ms"
        _expect_throttled(broker, topic, other, "a default for each client, another client")


@judges("QUOTA-008")
@needs_broker(Use.OWN)
def test_clients_of_one_user_share_quota_of_user(broker: BrokerUnderTest) -> None:
    """A batch of one client of a user throttles another client; the quota of one client of the user
    is its own."""
    broker.version("AlterClientQuotas")
    topic, first, second, own = broker.create_topic(), *(broker.unique_topic() for _ in range(3))
    user = user_of_run(broker)
    prepare_quotas(
        broker,
        quota(entity(user, own), {PRODUCER: LITTLE}),
        quota(entity(user=user), {PRODUCER: LITTLE}),
    )
    with requirement("QUOTA-008"), in_time(broker.scaled_ms(STAYS_ABOVE_MS)):
        _expect_throttled(broker, topic, first, "a quota of the user")
        throttle_ms = _produced(broker, topic, second, SMALL)
        assert throttle_ms > 0, "another client of the user is not throttled"
        throttle_ms = _produced(broker, topic, own, SMALL)
        assert throttle_ms == 0, f"a client with its own quota is throttled for {throttle_ms} ms"
        _expect_throttled(broker, topic, own, "a quota of the user's client")


@judges("QUOTA-015")
@needs_broker(Use.OWN)
@pytest.mark.parametrize("key", [PRODUCER, CONSUMER])
def test_changed_quota_holds_for_client_that_is_measured_already(
    broker: BrokerUnderTest, key: str
) -> None:
    """Lowered, raised, lowered and removed, while the same client goes on sending or reading."""
    broker.version("AlterClientQuotas")
    topic, client_id = broker.create_topic(), broker.unique_topic()
    append(broker, topic, ABOVE)

    def throttle_ms() -> int:
        if key == CONSUMER:
            return _fetched(broker, topic, client_id)
        return _produced(broker, topic, client_id, ABOVE)

    of = entity(client_id=client_id)
    prepare_quotas(broker, quota(of, {key: HUGE}))
    with requirement("QUOTA-015"):
        assert throttle_ms() == 0, f"throttled with {key} {HUGE}"
        for value in (LOWERED, HUGE, LOWERED, None):
            prepare_quotas(broker, quota(of, {key: value}))
            expected = value == LOWERED
            found = broker.last_seen(
                throttle_ms,
                lambda ms, expected=expected: (ms > 0) == expected,  # type: ignore[misc]
                QUOTA_WITHIN_MS,
            )
            told = f"{key} has become {value}: the throttle time is {found}"
            assert (found > 0) == expected, told


@judges("QUOTA-016")
@needs_broker(Use.OWN)
def test_bytes_written_and_bytes_read_count_for_their_own_quota(broker: BrokerUnderTest) -> None:
    """A client above its producer_byte_rate reads a little, one that has read much writes a little:
    neither is throttled at that."""
    broker.version("AlterClientQuotas")
    much, little = broker.create_topic(), broker.create_topic()
    writer, reader = (f"{OWN_BYTES}-{broker.unique_topic()}" for _ in range(2))
    append(broker, much, ABOVE)
    append(broker, little, SMALL)
    prepare_quotas(
        broker,
        quota(entity(client_id=writer), {PRODUCER: LITTLE, CONSUMER: LITTLE}),
        quota(entity(client_id=reader), {PRODUCER: LITTLE, CONSUMER: HUGE}),
    )
    with requirement("QUOTA-016"), in_time(broker.scaled_ms(STAYS_ABOVE_MS)):
        _expect_throttled(broker, much, writer, "above producer_byte_rate")
        throttle_ms = _fetched(broker, little, writer)
        assert throttle_ms == 0, f"a Fetch after a large Produce is throttled for {throttle_ms} ms"
        throttle_ms = _fetched(broker, much, reader)
        assert throttle_ms == 0, f"a Fetch below its quota is throttled for {throttle_ms} ms"
        throttle_ms = _produced(broker, little, reader, SMALL)
        assert throttle_ms == 0, f"a Produce after a large Fetch is throttled for {throttle_ms} ms"


@judges("QUOTA-009")
@needs_broker(Use.OWN)
def test_request_percentage_throttles_requests_of_its_client(broker: BrokerUnderTest) -> None:
    """Of several APIs, each until it is throttled; another client is not."""
    broker.version("AlterClientQuotas")
    client_id, other = broker.unique_topic(), broker.unique_topic()
    prepare_quotas(broker, quota(entity(client_id=client_id), {PERCENTAGE: 0.001}))
    requests = (MetadataRequest(topics=[]), ListGroupsRequest())

    with requirement("QUOTA-009"):
        for request in requests:
            name = type(request).__name__
            found = broker.last_seen(
                lambda request=request: _asked(broker, request, client_id),  # type: ignore[misc]
                bool,
                QUOTA_WITHIN_MS,
            )
            assert found > 0, f"{name} is not throttled"
            found = _asked(broker, request, other)
            assert found == 0, f"{name} of another client is throttled for {found} ms"


def _asked(
    broker: BrokerUnderTest,
    request: MetadataRequest | ListGroupsRequest,
    client_id: str,
) -> int:
    """Return the throttle time in ms of a request on a new connection."""
    version = broker.version(type(request).__name__.removesuffix("Request"))
    with broker.connect(client_id) as connection:
        if isinstance(request, MetadataRequest):
            return connection.ask(request, version).throttle_time_ms
        return connection.ask(request, version).throttle_time_ms
