"""CLIENT: consumers, members of groups and admin clients on a way that fails once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from harness.clients.records import BEGAN_MS, FOR_EVER, STEP_MS, in_partition, numbered
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.faults import Faults, Rule, requests, responses
from harness.runner.marks import client_needs, judges
from suites.clients.group_members import EACH, PARTITIONS, members_of, offsets_of
from suites.clients.read_records import expect_same, has_leader
from suites.clients.stored_once import COUNT

LATE_MS = 2000
SOME = 3
FAULT = "fault"


@contextmanager
def _behind(client: ClientUnderTest, faults: Faults, fault: Rule) -> Iterator[ClientUnderTest]:
    """The client in another process, which meets the fault; it has fired when the block ends."""
    with faults.path(fault, leads=True) as path:
        yield replace(client, calls=client.start_at(path.address))
        path.expect_fired(FAULT)


def _expect_read_behind(client: ClientUnderTest, faults: Faults, fault: Rule) -> None:
    topic = client.create(1, FOR_EVER)
    records = numbered(1, COUNT)
    client.calls.produce(topic, records, idempotent=False)
    with _behind(client, faults, fault) as struck:
        found = struck.calls.read(topic, 0, 0, COUNT)
    expect_same(found, in_partition(records, 0), "behind the fault")


@judges("CLIENT-041")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_consumer_finds_the_new_leader(client: ClientUnderTest, faults: Faults) -> None:
    """The first Fetch gets the answer of a broker that does not lead the partition."""
    with requirement("CLIENT-041"):
        fault = responses("Fetch").first(1).named(FAULT)
        _expect_read_behind(client, faults, fault.rewrite(_OF_ANOTHER_LEADER))


_OF_ANOTHER_LEADER = {
    "responses[*].partitions[*].error_code": "NOT_LEADER_OR_FOLLOWER",
    "responses[*].partitions[*].high_watermark": -1,
    "responses[*].partitions[*].records": None,
}


@judges("CLIENT-042")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_consumer_with_a_late_answer_reads_once(client: ClientUnderTest, faults: Faults) -> None:
    """The first answer to Fetch comes two seconds later."""
    with requirement("CLIENT-042"):
        fault = responses("Fetch").first(1).named(FAULT).delay(LATE_MS)
        _expect_read_behind(client, faults, fault)


@judges("CLIENT-043")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_consumer_that_is_cut_off_within_an_answer_reads_once(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The client gets all but the last ten bytes, then the connection is reset."""
    with requirement("CLIENT-043"):
        fault = responses("Fetch").first(1).named(FAULT).truncate(-10, then="reset")
        _expect_read_behind(client, faults, fault)


@judges("CLIENT-044")
@client_needs(CreateTopics="0+", Produce="3+", ListOffsets="1+")
def test_offset_of_time_is_asked_again_behind_a_lost_answer(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The connection ends before the first answer to ListOffsets."""
    topic = client.create(1, FOR_EVER)
    client.calls.produce(topic, numbered(1, COUNT), idempotent=False)
    with requirement("CLIENT-044"):
        fault = responses("ListOffsets").first(1).named(FAULT).close()
        with _behind(client, faults, fault) as struck:
            found = struck.calls.offsets_for_times(topic, {0: BEGAN_MS + SOME * STEP_MS})
        assert found == {0: SOME}, f"offsets are {found}, expected {SOME}"


def _expect_member_behind(client: ClientUnderTest, faults: Faults, fault: Rule) -> None:
    """A member of a group meets the fault, and reads every record of four partitions once."""
    topic = client.create(PARTITIONS, FOR_EVER)
    client.calls.produce(topic, numbered(PARTITIONS, EACH), idempotent=False)
    with _behind(client, faults, fault) as struck, members_of(struck, topic) as members:
        members.join("one", "eager")
        members.read_to(EACH)


@judges("CLIENT-045")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", FindCoordinator="0+")
def test_member_waits_for_a_coordinator(client: ClientUnderTest, faults: Faults) -> None:
    """The first FindCoordinator gets the answer that there is none yet."""
    fault = requests("FindCoordinator").first(1).named(FAULT)
    with requirement("CLIENT-045"):
        rule = fault.answer_error("COORDINATOR_NOT_AVAILABLE")
        _expect_member_behind(client, faults, rule)


@judges("CLIENT-046")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", SyncGroup="0+")
def test_member_joins_when_its_coordinator_has_loaded(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first JoinGroup gets the answer that the coordinator loads."""
    fault = requests("JoinGroup").first(1).named(FAULT)
    with requirement("CLIENT-046"):
        rule = fault.answer_error("COORDINATOR_LOAD_IN_PROGRESS")
        _expect_member_behind(client, faults, rule)


@judges("CLIENT-047")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", SyncGroup="0+")
def test_member_joins_again_when_its_coordinator_has_moved(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first JoinGroup gets the answer of a broker that is not the coordinator."""
    with requirement("CLIENT-047"):
        fault = requests("JoinGroup").first(1).named(FAULT).answer_error("NOT_COORDINATOR")
        _expect_member_behind(client, faults, fault)


@judges("CLIENT-048")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", SyncGroup="0+")
def test_member_joins_again_in_a_rebalance(client: ClientUnderTest, faults: Faults) -> None:
    """The first SyncGroup gets the answer that the group rebalances."""
    with requirement("CLIENT-048"):
        fault = requests("SyncGroup").first(1).named(FAULT).answer_error("REBALANCE_IN_PROGRESS")
        _expect_member_behind(client, faults, fault)


def _expect_commit_behind(client: ClientUnderTest, faults: Faults, fault: Rule) -> None:
    """A member commits, or begins at its commit, behind the fault; another goes on there."""
    topic = client.create(1, FOR_EVER)
    client.calls.produce(topic, numbered(1, COUNT), idempotent=False)
    with _behind(client, faults, fault) as struck:
        with members_of(struck, topic) as members:
            members.join("one", "eager", commits=False)
            members.poll_until(lambda: len(members.records) >= SOME, f"{SOME} records are read")
            struck.calls.commit("one")
            committed = len(members.records)
        with members_of(struck, topic) as others:
            others.join("two", "eager", commits=False)
            left = list(range(committed, COUNT))
            others.poll_until(lambda: len(others.records) >= len(left), f"{len(left)} are read")
            found = offsets_of(others.records)
            assert found == left, f"after a commit of {committed} a new member has read {found}"


@judges("CLIENT-049")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", OffsetCommit="0+",
              OffsetFetch="1+")  # fmt: skip
def test_commit_with_a_lost_answer_is_made(client: ClientUnderTest, faults: Faults) -> None:
    """The connection ends before the first answer to OffsetCommit."""
    with requirement("CLIENT-049"):
        fault = responses("OffsetCommit").first(1).named(FAULT).close()
        _expect_commit_behind(client, faults, fault)


@judges("CLIENT-050")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", JoinGroup="0+", OffsetCommit="0+",
              OffsetFetch="1+")  # fmt: skip
def test_member_begins_at_its_commit_though_offsets_are_loaded(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The first OffsetFetch gets the answer that the coordinator loads."""
    fault = requests("OffsetFetch").first(1).named(FAULT)
    with requirement("CLIENT-050"):
        rule = fault.answer_error("COORDINATOR_LOAD_IN_PROGRESS")
        _expect_commit_behind(client, faults, rule)


@judges("CLIENT-051")
@client_needs(CreateTopics="0+", Metadata="0+")
def test_admin_finds_the_new_controller(client: ClientUnderTest, faults: Faults) -> None:
    """The first CreateTopics gets the answer of a broker that is not the controller."""
    topic = client.topic()
    with requirement("CLIENT-051"):
        fault = requests("CreateTopics").first(1).named(FAULT).answer_error("NOT_CONTROLLER")
        with _behind(client, faults, fault) as struck:
            struck.calls.create_topic(topic, PARTITIONS)
        client.eventually(lambda: topic in client.calls.list_topics(), "the new topic is listed")


@judges("CLIENT-052")
@client_needs(CreateTopics="0+", Metadata="0+")
def test_client_connects_again_when_its_versions_are_lost(
    client: ClientUnderTest, faults: Faults
) -> None:
    """The connection ends before the first answer to ApiVersions."""
    topic = client.create(PARTITIONS)
    with requirement("CLIENT-052"):
        fault = responses("ApiVersions").first(1).named(FAULT).close()
        with _behind(client, faults, fault) as struck:
            found = struck.calls.describe_topic(topic)
        numbers = [one["partition"] for one in found]
        assert numbers == list(range(PARTITIONS)), f"described partitions are {numbers}"
        wrong = [one for one in found if not has_leader(one)]
        assert not wrong, f"partitions are described as {wrong}"
