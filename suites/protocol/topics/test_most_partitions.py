"""TOPIC: the number of partitions that one request may ask for."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.topic_admin import (
    ask_to_create,
    ask_to_grow,
    creatable,
)

MOST = 10_000
"""Of a request; the creation of a topic counts as one more."""


@judges("TOPIC-039")
@at_versions("CreateTopics", "1+")
def test_create_topics_of_too_many_partitions_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One topic with too many, and two with too many in all, one of them illegal or not: each
    result has the error.

    Only a validation: a broker without the limit would create them.
    """
    first, second = broker.unique_topic(), broker.unique_topic()
    with requirement("TOPIC-039") as check:
        for sizes, error in (
            ((MOST - 1,), ErrorCode.NONE),
            ((MOST + 1,), ErrorCode.POLICY_VIOLATION),
            ((MOST // 2, MOST // 2 - 2), ErrorCode.NONE),
            ((MOST // 2, MOST // 2 + 1), ErrorCode.POLICY_VIOLATION),
        ):
            with check.subtest(f"{sizes} partitions"):
                wanted = [creatable(n, of) for n, of in zip((first, second), sizes, strict=False)]
                results = ask_to_create(broker, api_version, *wanted, validate_only=True)
                for topic in wanted:
                    results.expect(topic.name, error, f"{sizes} partitions: {topic.name}")
        with check.subtest("beside an illegal name"):
            wanted = [creatable(first, 2), creatable(f"{second}/b", MOST - 1)]
            results = ask_to_create(broker, api_version, *wanted, validate_only=True)
            results.expect(first, ErrorCode.POLICY_VIOLATION, "2 partitions beside an illegal name")
        with check.subtest("assigned partitions"):
            chosen = [[broker.own_id()]] * (MOST + 1)
            wanted = [creatable(first, -1, -1, assignments=chosen)]
            results = ask_to_create(broker, api_version, *wanted, validate_only=True)
            results.expect(first, ErrorCode.POLICY_VIOLATION, f"{MOST + 1} assigned partitions")


@judges("TOPIC-040")
@needs_broker(Use.OWN)
@at_versions("CreatePartitions")
def test_create_partitions_of_too_many_partitions_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The partitions that a topic has do not count; those of two topics count together.

    The controller of Kafka 4.0 to 4.3 fails at such a request.
    """
    first, second = broker.create_topic(partitions=2), broker.create_topic()
    names = (first.name, second.name)
    with requirement("TOPIC-040") as check:
        for counts, error in (
            ((MOST + 2,), ErrorCode.NONE),
            ((MOST + 3,), ErrorCode.POLICY_VIOLATION),
            ((MOST + 1, 2), ErrorCode.NONE),
            ((MOST + 2, 2), ErrorCode.POLICY_VIOLATION),
        ):
            with check.subtest(f"up to {counts} partitions"):
                wanted = list(zip(names, counts, strict=False))
                results = ask_to_grow(broker, api_version, *wanted, validate_only=True)
                for name, count in wanted:
                    results.expect(name, error, f"up to {counts}: {name}, {count}")
