"""QUOTA: quotas of users that have authenticated themselves (KIP-55)."""

from __future__ import annotations

from collections.abc import Callable

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.client.requests import produce_request as produce
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import code_of
from suites.protocol.support.principals import Principal, connection_of, ordinary_user
from suites.protocol.support.quota_admin import (
    PRODUCER,
    QUOTA_WITHIN_MS,
    entity,
    prepare_quotas,
    quota,
)
from suites.protocol.support.rights import Right, give, has_authorizer
from suites.protocol.support.sasl import credentials_of

LITTLE, HUGE = 1_000.0, 1e12
"""Bytes per second."""
ABOVE = batch_of(b"x" * 20 * int(LITTLE))
"""More than the least quota in the ten seconds of the mean."""
SMALL = batch_of(b"x")
CLIENT_ID = "QUOTA-026"
"""The same for both users."""
STAYS_ABOVE_MS = 5_000
"""The mean contains a batch for at least so long."""
Produced = Callable[[Principal, str, bytes], int]
"""A user's Produce by a client id; the throttle time in ms."""


def _producing(broker: BrokerUnderTest, topic: Topic) -> Produced:
    version = broker.version("Produce")

    def produced(user: Principal, client_id: str, batch: bytes) -> int:
        with connection_of(broker, user, client_id) as connection:
            answer: ProduceResponse = connection.ask(produce(topic, batch, version), version)
        expect_error(code_of(answer), ErrorCode.NONE, f"Produce of {user.name}")
        return answer.throttle_time_ms

    return produced


def _may_write(broker: BrokerUnderTest, topic: Topic, *users: Principal) -> None:
    """Give the users the right to write, where one is needed."""
    if not has_authorizer(broker):
        return
    for user in users:
        give(broker, user.principal, [Right(Operation.WRITE, Resource.TOPIC, topic.name)])


def _until_throttled(broker: BrokerUnderTest, produced: Callable[[], int], when: str) -> None:
    throttle_ms = broker.last_seen(produced, bool, QUOTA_WITHIN_MS)
    assert throttle_ms > 0, f"{when}: not throttled"


@judges("QUOTA-026")
@needs_broker(Use.OWN)
def test_a_quota_of_a_user_is_shared_by_its_clients_and_by_no_other_user(
    broker: BrokerUnderTest,
) -> None:
    """First a quota of one user, then the default of all users, then an own one above it."""
    credentials_of(broker)
    broker.version("AlterClientQuotas")
    topic, another_id = broker.create_topic(), broker.unique_topic()
    produced = _producing(broker, topic)
    with (
        requirement("QUOTA-026") as check,
        ordinary_user(broker) as first,
        ordinary_user(broker) as second,
    ):
        _may_write(broker, topic, first, second)
        prepare_quotas(broker, quota(entity(user=first.name), {PRODUCER: LITTLE}))
        with check.subtest("of one user"), in_time(broker.scaled_ms(STAYS_ABOVE_MS)):
            _until_throttled(broker, lambda: produced(first, CLIENT_ID, ABOVE), "the user")
            assert produced(first, another_id, SMALL) > 0, "its other client is not throttled"
            throttle_ms = produced(second, CLIENT_ID, ABOVE)
            assert throttle_ms == 0, f"another user is throttled for {throttle_ms} ms"
        prepare_quotas(broker, quota(entity(user=None), {PRODUCER: LITTLE}))
        with check.subtest("the default"):
            _until_throttled(broker, lambda: produced(second, CLIENT_ID, ABOVE), "by the default")
        prepare_quotas(broker, quota(entity(user=second.name), {PRODUCER: HUGE}))
        with check.subtest("an own quota above the default"):
            throttle_ms = broker.last_seen(
                lambda: produced(second, another_id, SMALL), lambda ms: ms == 0, QUOTA_WITHIN_MS
            )
            assert throttle_ms == 0, f"by its own quota it is throttled for {throttle_ms} ms"
