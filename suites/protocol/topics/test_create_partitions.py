"""TOPIC: CreatePartitions."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.topic_admin import ask_to_grow, described, partition_count

GROWN_WITHIN_MS = 10_000
VALUES = [b"first", b"second", b"third"]


def _with_two_partitions(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=2)


@judges("TOPIC-024")
@at_versions("CreatePartitions")
def test_create_partitions_adds_partitions_with_same_replication_factor(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """From one to three: the new ones are replicated as the old one is."""
    topic = broker.create_topic()
    before = described(broker, topic.name).partitions[0]
    with requirement("TOPIC-024"):
        ask_to_grow(broker, api_version, (topic.name, 3)).expect(topic.name, ErrorCode.NONE)
        partitions = described(broker, topic.name, partitions=2).partitions
        numbers = sorted(partition.partition_index for partition in partitions)
        assert numbers == [0, 1, 2], f"asked for 3 partitions, there are {numbers}"
        factors = {len(partition.replica_nodes) for partition in partitions}
        expected = len(before.replica_nodes)
        assert factors == {expected}, f"replication factors {factors}, expected {expected}"


@judges("TOPIC-024")
@at_versions("CreatePartitions")
def test_create_partitions_keeps_existing_records_and_offsets(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The old partition keeps its records and its end, the new one begins at 0."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(*VALUES))
    before = broker.fetch(topic, 0).records
    with requirement("TOPIC-024"):
        here = None if broker.node is None else [[broker.node]]
        results = ask_to_grow(broker, api_version, (topic.name, 2), assignments=here)
        results.expect(topic.name, ErrorCode.NONE)
        described(broker, topic.name, partitions=2)
        broker.await_served(topic, 1)
        ends = broker.end_offset(topic, 0), broker.end_offset(topic, 1)
        assert ends == (len(VALUES), 0), f"log ends after the growth: {ends}"
        assert broker.fetch(topic, 0).records == before, "the old records are not as they were"


@judges("TOPIC-025")
@at_versions("CreatePartitions")
def test_create_partitions_without_increase_returns_invalid_partitions(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A topic of two partitions is asked to have two, then one, none, and -1."""
    topic = kept.topic(broker, _with_two_partitions)
    with requirement("TOPIC-025") as check:
        for count in (2, 1, 0, -1):
            with check.subtest(f"{count} instead of 2"):
                results = ask_to_grow(broker, api_version, (topic.name, count))
                results.expect(topic.name, ErrorCode.INVALID_PARTITIONS, f"{count} instead of 2")


@judges("TOPIC-027")
@at_versions("CreatePartitions")
def test_create_partitions_with_validate_only_changes_nothing(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """When a topic that was grown later has its partitions, these still have their own, whether the
    request left the brokers open or chose them; a count that is not larger is refused."""
    topic, later = broker.create_topic(partitions=2), broker.create_topic()
    assigned = broker.create_topic(partitions=2)
    shown = described(broker, assigned.name, partitions=2).partitions[0]
    with requirement("TOPIC-027"):
        results = ask_to_grow(broker, api_version, (topic.name, 3), validate_only=True)
        results.expect(topic.name, ErrorCode.NONE)
        chosen = [list(shown.replica_nodes)]
        growth = (assigned.name, 3)
        results = ask_to_grow(broker, api_version, growth, validate_only=True, assignments=chosen)
        results.expect(assigned.name, ErrorCode.NONE, f"with the assignment {chosen}")
        results = ask_to_grow(broker, api_version, (topic.name, 2), validate_only=True)
        results.expect(topic.name, ErrorCode.INVALID_PARTITIONS, "validation of no growth")
        ask_to_grow(broker, api_version, (later.name, 2)).expect(later.name, ErrorCode.NONE)
        described(broker, later.name, partitions=2)
        for each in (topic, assigned):
            count = partition_count(broker, each)
            assert count == 2, f"{count} partitions after a validation, 2 before"


@judges("TOPIC-027")
@at_versions("CreatePartitions")
def test_create_partitions_of_unknown_topic_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A name that no topic has; the topics before and behind it in the request grow."""
    name, *there = broker.unique_topic(), *(broker.create_topic().name for _ in range(2))
    with requirement("TOPIC-027"):
        growths = (there[0], 2), (name, 2), (there[1], 2)
        results = ask_to_grow(broker, api_version, *growths)
        results.expect(name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        results.expect(there[0], ErrorCode.NONE, "the topic before the unknown one")
        results.expect(there[1], ErrorCode.NONE, "the topic behind the unknown one")
        _expect_two_partitions(broker, there[0], "the topic before the unknown one")
        _expect_two_partitions(broker, there[1], "the topic behind the unknown one")


def _expect_two_partitions(broker: BrokerUnderTest, name: str, where: str) -> None:
    """The topic must have them soon."""
    count = broker.last_seen(
        lambda: len(only(broker.metadata([name]).topics, "topic").partitions),
        lambda count: count == 2,
        GROWN_WITHIN_MS,
    )
    assert count == 2, f"{where}: {count} partitions, 2 were asked for"


@judges("TOPIC-027")
@at_versions("CreatePartitions")
def test_create_partitions_with_duplicate_topic_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The topic that stands there twice does not grow, the one beside it does."""
    twice, once = broker.create_topic(), broker.create_topic()
    with requirement("TOPIC-027"):
        results = ask_to_grow(broker, api_version, (twice.name, 2), (once.name, 2), (twice.name, 2))
        results.expect(twice.name, ErrorCode.INVALID_REQUEST, "the topic named twice")
        results.expect(once.name, ErrorCode.NONE, "the topic named once")
        described(broker, once.name, partitions=2)
        count = partition_count(broker, twice)
        assert count == 1, f"{count} partitions of the topic named twice, 1 before"
