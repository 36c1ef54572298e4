"""CLIENT: what a broker refuses is an error of the client, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable

from harness.client.requests import LATEST, Topic
from harness.clients.calls import ClientFailed, ClientGone
from harness.clients.records import FOR_EVER, in_partition, numbered, sent
from harness.clients.vocabulary import EAGER
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.marks import client_needs, judges
from suites.clients.group_members import PARTITIONS, members_of
from suites.clients.read_records import expect_same, leader_of

MOST_BYTES, LONG_BYTES = 2000, 5000
RETENTION = "5000000000"


def _expect_refused(call: Callable[[], object], what: str) -> None:
    try:
        call()
    except ClientGone:
        raise
    except ClientFailed:
        return
    raise AssertionError(f"the client reports no error: {what}")


@judges("CLIENT-053")
@client_needs(CreateTopics="0+", Metadata="0+")
def test_existing_topic_is_not_created_again(client: ClientUnderTest) -> None:
    """A topic with four partitions, and a request for one with one."""
    with requirement("CLIENT-053"):
        topic = client.create(PARTITIONS)
        _expect_refused(lambda: client.calls.create_topic(topic, 1), "the topic exists")
        found = client.calls.describe_topic(topic)
        assert len(found) == PARTITIONS, f"{len(found)} partitions are described"


@judges("CLIENT-054")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_record_above_the_limit_is_not_stored(client: ClientUnderTest) -> None:
    """A record of 5000 bytes where 2000 are allowed; then a small one is stored."""
    with requirement("CLIENT-054"):
        topic = client.create(1, {**FOR_EVER, "max.message.bytes": str(MOST_BYTES)})
        long = [sent(0, 0, key="k", value="x" * LONG_BYTES)]
        _expect_refused(
            lambda: client.calls.produce(topic, long, idempotent=False), "a record is too large"
        )
        with leader_of(client, topic) as leader:
            end = leader.list_offset(Topic(topic), LATEST).offset
        assert end == 0, f"the log ends at offset {end}"
        small = numbered(1, 1)
        client.calls.produce(topic, small, idempotent=False)
        expect_same(client.calls.read(topic, 0, 0, 1), in_partition(small, 0), "the small record")


@judges("CLIENT-055")
@client_needs(CreateTopics="0+", DescribeConfigs="0+")
def test_config_of_a_wrong_value_is_not_altered(client: ClientUnderTest) -> None:
    """A number of milliseconds that is none."""
    with requirement("CLIENT-055"):
        topic = client.create(1, {"retention.ms": RETENTION})
        wrong = {"retention.ms": "soon"}
        _expect_refused(lambda: client.calls.alter_configs(topic, wrong), "the value is no number")
        found = client.calls.describe_configs(topic).get("retention.ms")
        assert found == RETENTION, f"the config is described as {found}"


@judges("CLIENT-056")
@client_needs(CreateTopics="0+", CreatePartitions="0+", Metadata="0+")
def test_partitions_are_not_taken_away(client: ClientUnderTest) -> None:
    """From four to one."""
    with requirement("CLIENT-056"):
        topic = client.create(PARTITIONS)
        _expect_refused(lambda: client.calls.create_partitions(topic, 1), "there are more of them")
        found = client.calls.describe_topic(topic)
        assert len(found) == PARTITIONS, f"{len(found)} partitions are described"


@judges("CLIENT-057")
@client_needs(DeleteTopics="0+", Metadata="0+")
def test_unknown_topic_is_not_deleted(client: ClientUnderTest) -> None:
    """A name that no topic has."""
    with requirement("CLIENT-057"):
        name = client.topic()
        _expect_refused(lambda: client.calls.delete_topic(name), "there is no such topic")
        assert name not in client.calls.list_topics(), "the unknown topic is listed"


@judges("CLIENT-058")
@client_needs(CreateTopics="0+", JoinGroup="0+", DeleteGroups="0+", DescribeGroups="0+")
def test_group_with_members_is_not_deleted(client: ClientUnderTest) -> None:
    """One member with all four partitions."""
    with requirement("CLIENT-058"):
        topic = client.create(PARTITIONS, FOR_EVER)
        with members_of(client, topic) as members:
            members.join("one", EAGER)
            members.until_owned()
            _expect_refused(lambda: client.calls.delete_group(topic), "the group has a member")
            names = [name for name, _ in client.calls.describe_group(topic)["members"]]
            assert names == ["one"], f"described members are {names}"
