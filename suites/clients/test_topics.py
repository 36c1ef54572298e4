"""CLIENT: topics, their configs, partitions and records, by the admin calls of a client."""

from __future__ import annotations

from harness.client.requests import EARLIEST, Topic
from harness.clients.records import FOR_EVER, in_partition, numbered
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.marks import client_needs, judges
from suites.clients.read_records import expect_same, has_leader, leader_of

PARTITIONS = 3
CONFIGS = {"retention.ms": "5000000000", "max.message.bytes": "65536"}


@judges("CLIENT-001")
@client_needs(CreateTopics="0+", Metadata="0+")
def test_created_topic_is_listed_and_described(client: ClientUnderTest) -> None:
    """Three partitions; the leader of each is in its ISR, which is a part of its replicas."""
    with requirement("CLIENT-001"):
        topic = client.create(PARTITIONS)
        client.eventually(lambda: topic in client.calls.list_topics(), "the new topic is listed")
        found = client.calls.describe_topic(topic)
        numbers = [one["partition"] for one in found]
        assert numbers == list(range(PARTITIONS)), f"described partitions are {numbers}"
        wrong = [one for one in found if not has_leader(one)]
        assert not wrong, f"partitions are described as {wrong}"


@judges("CLIENT-002")
@client_needs(CreateTopics="0+", DescribeConfigs="0+")
def test_configs_of_new_topic_are_described(client: ClientUnderTest) -> None:
    """Two values that are not the defaults."""
    with requirement("CLIENT-002"):
        topic = client.create(1, CONFIGS)
        found = client.calls.describe_configs(topic)
        described = {name: found.get(name) for name in CONFIGS}
        assert described == CONFIGS, f"configs are described as {described}"


@judges("CLIENT-003")
@client_needs(CreateTopics="0+", DescribeConfigs="0+")
def test_altered_config_changes_alone(client: ClientUnderTest) -> None:
    """A client without incremental changes sends all configs of the topic."""
    with requirement("CLIENT-003"):
        topic = client.create(1, CONFIGS)
        before = client.calls.describe_configs(topic)
        new = {**CONFIGS, "max.message.bytes": "70000"}
        client.calls.alter_configs(topic, new)

        def described() -> dict[str, str]:
            return client.calls.describe_configs(topic)

        after = client.broker.last_seen(
            described, lambda seen: seen.get("max.message.bytes") == "70000", 15_000
        )
        wrong = {key: after.get(key) for key in before if after.get(key) != {**before, **new}[key]}
        assert not wrong, f"configs are described as {wrong}"


@judges("CLIENT-004")
@client_needs(CreateTopics="0+", CreatePartitions="0+", Produce="3+")
def test_added_partitions_are_described_and_take_records(client: ClientUnderTest) -> None:
    """From one to three; a record to each."""
    with requirement("CLIENT-004"):
        topic = client.create(1, FOR_EVER)
        client.calls.create_partitions(topic, PARTITIONS)
        client.eventually(
            lambda: len(client.calls.describe_topic(topic)) == PARTITIONS,
            f"{PARTITIONS} partitions are described",
        )
        places = client.calls.produce(topic, numbered(PARTITIONS, 1), idempotent=False)
        expected = [[partition, 0] for partition in range(PARTITIONS)]
        assert places == expected, f"the records have the places {places}"


@judges("CLIENT-005")
@client_needs(CreateTopics="0+", DeleteRecords="0+", Produce="3+", Fetch="4+")
def test_deleted_records_are_gone(client: ClientUnderTest) -> None:
    """The first two of five, and of another partition none."""
    with requirement("CLIENT-005"):
        topic = client.create(2, FOR_EVER)
        records = numbered(2, 5)
        client.calls.produce(topic, records, idempotent=False)
        low = dict(client.calls.delete_records(topic, {0: 2}))
        assert low == {0: 2}, f"low watermarks are {low}"
        with leader_of(client, topic) as leader:
            first = leader.list_offset(Topic(topic), EARLIEST).offset
        assert first == 2, f"the log begins at offset {first}"
        left = in_partition(records, 0, 2)
        expect_same(client.calls.read(topic, 0, 2, len(left)), left, "partition 0 from offset 2")
        whole = in_partition(records, 1)
        expect_same(client.calls.read(topic, 1, 0, len(whole)), whole, "partition 1")


@judges("CLIENT-006")
@client_needs(CreateTopics="0+", DeleteTopics="0+", Metadata="0+")
def test_deleted_topic_is_listed_no_more(client: ClientUnderTest) -> None:
    """Of two topics one is deleted."""
    with requirement("CLIENT-006"):
        gone, kept = client.create(), client.create()
        client.calls.delete_topic(gone)
        client.eventually(
            lambda: gone not in client.calls.list_topics(), "the deleted topic is not listed"
        )
        assert kept in client.calls.list_topics(), "the other topic is not listed any more"
