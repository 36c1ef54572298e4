"""CLIENT: members of groups, their rebalances and commits."""

from __future__ import annotations

from harness.clients.records import FOR_EVER, numbered
from harness.clients.vocabulary import CONSUMER, COOPERATIVE, EAGER
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.marks import client_needs, judges
from suites.clients.group_members import EACH, PARTITIONS, members_of, offsets_of

RECORDS, SOME = 20, 3


@judges("CLIENT-023")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", SyncGroup="0+")
def test_only_member_reads_all_records_once(client: ClientUnderTest) -> None:
    """Four partitions with ten records each."""
    with requirement("CLIENT-023"):
        topic = client.create(PARTITIONS, FOR_EVER)
        client.calls.produce(topic, numbered(PARTITIONS, EACH), idempotent=False)
        with members_of(client, topic) as members:
            members.join("one", EAGER)
            members.read_to(EACH)


def _expect_resumed(client: ClientUnderTest, protocol: str) -> None:
    """A member commits, reads on and leaves; another begins at the commit."""
    topic = client.create(1, FOR_EVER)
    client.calls.produce(topic, numbered(1, RECORDS), idempotent=False)
    with members_of(client, topic) as members:
        members.join("one", protocol, commits=False)
        members.poll_until(lambda: len(members.records) >= SOME, f"{SOME} records are read")
        client.calls.commit("one")
        committed = len(members.records)
        members.poll_until(lambda: len(members.records) >= RECORDS, "all records are read")
        found = offsets_of(members.records)
        assert found == list(range(RECORDS)), f"the first member has read the offsets {found}"
    with members_of(client, topic) as others:
        others.join("two", protocol, commits=False)
        left = list(range(committed, RECORDS))
        others.poll_until(lambda: len(others.records) >= len(left), f"{len(left)} are read again")
        found = offsets_of(others.records)
        assert found == left, f"after a commit of {committed} a new member has read {found}"


@judges("CLIENT-024")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", OffsetCommit="0+",
              OffsetFetch="1+")  # fmt: skip
def test_new_member_goes_on_at_commit(client: ClientUnderTest) -> None:
    """The first member has read behind its commit."""
    with requirement("CLIENT-024"):
        _expect_resumed(client, EAGER)


def _expect_no_loss(client: ClientUnderTest, strategy: str) -> None:
    """Members join and leave while there are records to read."""
    topic = client.create(PARTITIONS, FOR_EVER)
    calls = client.calls
    calls.produce(topic, numbered(PARTITIONS, EACH), idempotent=False)
    with members_of(client, topic) as members:
        members.join("one", strategy)
        members.poll_until(lambda: bool(members.records), "the first member reads")
        members.join("two", strategy)
        members.until_owned()
        members.read_to(EACH)
        calls.produce(topic, numbered(PARTITIONS, EACH, first=EACH), idempotent=False)
        members.read_to(2 * EACH)
        calls.commit("two")
        members.leave("two")
        calls.produce(topic, numbered(PARTITIONS, EACH, first=2 * EACH), idempotent=False)
        members.until_owned()
        members.read_to(3 * EACH)


@judges("CLIENT-025")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", OffsetCommit="0+",
              LeaveGroup="0+")  # fmt: skip
def test_eager_rebalances_lose_nothing(client: ClientUnderTest) -> None:
    """Both members give up all partitions at each rebalance."""
    with requirement("CLIENT-025"):
        _expect_no_loss(client, EAGER)


@judges("CLIENT-026")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", OffsetCommit="0+",
              LeaveGroup="0+")  # fmt: skip
def test_cooperative_rebalances_lose_nothing(client: ClientUnderTest) -> None:
    """The members give up the partitions alone that move."""
    with requirement("CLIENT-026"):
        _expect_no_loss(client, COOPERATIVE)


@judges("CLIENT-027")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", ConsumerGroupHeartbeat="0+")
def test_member_of_assigned_group_resumes(client: ClientUnderTest) -> None:
    """The broker assigns the partitions."""
    with requirement("CLIENT-027"):
        _expect_resumed(client, CONSUMER)


@judges("CLIENT-028")
@client_needs(CreateTopics="0+", JoinGroup="0+", ListGroups="0+", DescribeGroups="0+")
def test_group_is_listed_and_described(client: ClientUnderTest) -> None:
    """One member with all four partitions."""
    with requirement("CLIENT-028"):
        topic = client.create(PARTITIONS, FOR_EVER)
        with members_of(client, topic) as members:
            members.join("one", EAGER)
            members.until_owned()
            assert topic in client.calls.list_groups(), "the group is not listed"
            found = client.calls.describe_group(topic)
            assert found["state"].upper() == "STABLE", f"the state is {found['state']}"
            told = [[name, sorted(assigned)] for name, assigned in found["members"]]
            assert told == [["one", list(range(PARTITIONS))]], f"described members are {told}"


@judges("CLIENT-029")
@client_needs(CreateTopics="0+", Produce="3+", JoinGroup="0+", OffsetCommit="0+", OffsetFetch="1+")
def test_committed_offsets_are_listed(client: ClientUnderTest) -> None:
    """Two records in each of four partitions."""
    with requirement("CLIENT-029"):
        topic = client.create(PARTITIONS, FOR_EVER)
        client.calls.produce(topic, numbered(PARTITIONS, 2), idempotent=False)
        with members_of(client, topic) as members:
            members.join("one", EAGER)
            members.read_to(2)
            client.calls.commit("one")
            found = client.calls.group_offsets(topic)
            expected = {(topic, partition): 2 for partition in range(PARTITIONS)}
            assert found == expected, f"committed offsets are listed as {found}"


@judges("CLIENT-030")
@client_needs(CreateTopics="0+", JoinGroup="0+", ListGroups="0+", DeleteGroups="0+")
def test_deleted_group_is_listed_no_more(client: ClientUnderTest) -> None:
    """A group that has no member any more."""
    with requirement("CLIENT-030"):
        topic = client.create(PARTITIONS, FOR_EVER)
        client.calls.produce(topic, numbered(PARTITIONS, 1), idempotent=False)
        with members_of(client, topic) as members:
            members.join("one", EAGER)
            members.read_to(1)
            client.calls.commit("one")
        assert topic in client.calls.list_groups(), "the group without members is not listed"
        client.calls.delete_group(topic)
        client.eventually(
            lambda: topic not in client.calls.list_groups(), "the deleted group is not listed"
        )
