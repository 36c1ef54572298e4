"""REASG: replicas move to the brokers that they are wanted on (KIP-455)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import records_of
from suites.replication.support.reading import read_all
from suites.replication.support.reassigning import ask_to_move, await_moved, elect, is_moving

ABSENT = 1_000_000  # a broker that no cluster has
BEFORE, MEANWHILE = 30, 30
MISSING = 7  # a partition that no topic here has


def _expect_taken(codes: dict[int, int], partition: int = 0) -> None:
    assert list(codes) == [partition], f"asked for one partition, the answer has {codes}"
    expect_error(codes[partition], ErrorCode.NONE, "AlterPartitionReassignments")


def _written(client: BrokerUnderTest, topic: Topic, first: int, count: int) -> None:
    for number in range(first, first + count):
        append(client, topic, batch_of(b"%d" % number))


@judges("REASG-001")
@at_versions("AlterPartitionReassignments")
def test_reassignment_copies_all_records_to_new_replica(cluster: Cluster, api_version: int) -> None:
    """It is written before and meanwhile; the new replica has every record at its offset.

    The replicas have the order of the target, in which the new one is the first. The same target
    once more is no move, and no error.
    """
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two]])
    _written(cluster.at(one), topic, 0, BEFORE)
    with requirement("REASG-001"):
        _expect_taken(ask_to_move(cluster, topic.name, {0: [three, one]}, api_version))
        _written(cluster.at(one), topic, BEFORE, MEANWHILE)
        await_moved(cluster, topic, [three, one])
        end = BEFORE + MEANWHILE
        expected = [(number, b"%d" % number) for number in range(end)]
        found = read_all(cluster, three, topic, end)
        assert found == expected, f"the new replica has {len(found)} of {end} records: {found[:5]}"
        _expect_taken(ask_to_move(cluster, topic.name, {0: [three, one]}, api_version))
        await_moved(cluster, topic, [three, one])


@judges("REASG-004")
@at_versions("AlterPartitionReassignments")
def test_reassignment_to_other_order_changes_preferred_leader(
    cluster: Cluster, api_version: int
) -> None:
    """No replica has to be made: nothing is under way, and an election makes the first lead."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two, three]])
    with requirement("REASG-004"):
        _expect_taken(ask_to_move(cluster, topic.name, {0: [three, two, one]}, api_version))
        await_moved(cluster, topic, [three, two, one])
        codes = elect(cluster, {topic.name: [0]})
        expect_error(codes[topic.name, 0], ErrorCode.NONE, "the preferred election")
        cluster.await_leader(topic, among=[three])


@judges("REASG-006")
@at_versions("AlterPartitionReassignments")
@pytest.mark.parametrize("form", ["empty", "a broker twice", "an unknown broker", "negative"])
def test_reassignment_to_bad_target_returns_invalid_replica_assignment(
    cluster: Cluster, api_version: int, form: str
) -> None:
    """The replicas stay where they are."""
    one, two, _ = cluster.nodes[:3]
    targets: dict[str, list[int]] = {
        "empty": [],
        "a broker twice": [one, one],
        "an unknown broker": [one, ABSENT],
        "negative": [one, -2],
    }
    topic = cluster.create_topic([[one, two]])
    with requirement("REASG-006"):
        codes = ask_to_move(cluster, topic.name, {0: targets[form]}, api_version)
        expect_error(codes[0], ErrorCode.INVALID_REPLICA_ASSIGNMENT, form)
        assert not is_moving(cluster, topic), "a reassignment is under way"
        assert cluster.replicas(topic) == [one, two], f"replicas are {cluster.replicas(topic)}"


@judges("REASG-006")
@at_versions("AlterPartitionReassignments")
def test_reassignment_of_unknown_partition_returns_unknown_topic_or_partition(
    cluster: Cluster, api_version: int
) -> None:
    """For a topic that exists, and for one that does not."""
    node = cluster.nodes[0]
    topic, unknown = cluster.create_topic([[node]]), cluster.unique_topic()
    with requirement("REASG-006") as check:
        for name, partition in ((topic.name, MISSING), (unknown, 0)):
            with check.subtest(f"partition {partition}"):
                codes = ask_to_move(cluster, name, {partition: [node]}, api_version)
                expect_error(codes[partition], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)


@judges("REASG-007")
@at_versions("AlterPartitionReassignments")
def test_reassignment_away_from_leader_moves_leadership_to_target(
    cluster: Cluster, api_version: int
) -> None:
    """The leader is not in the target: one of those that are leads, and has all records."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two]])
    _written(cluster.at(one), topic, 0, BEFORE)
    with requirement("REASG-007"):
        _expect_taken(ask_to_move(cluster, topic.name, {0: [two, three]}, api_version))
        await_moved(cluster, topic, [two, three])
        leader = cluster.await_leader(topic, among=[two, three])
        found = records_of(cluster.at(leader).fetch(topic, 0))
        expected = [(number, b"%d" % number) for number in range(BEFORE)]
        assert found == expected, f"the new leader has {len(found)} of {BEFORE} records"


@judges("REASG-008")
@at_versions("AlterPartitionReassignments")
def test_reassignment_lowers_and_raises_replication_factor(
    cluster: Cluster, api_version: int
) -> None:
    """Three replicas, then two, then three."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two, three]])
    append(cluster.at(one), topic, batch_of(b"r"))
    with requirement("REASG-008"):
        for target in ([one, two], [one, two, three]):
            _expect_taken(ask_to_move(cluster, topic.name, {0: target}, api_version))
            await_moved(cluster, topic, target)
        append(cluster.at(one), topic, batch_of(b"r"))
        end = cluster.at(one).end_offset(topic)
        assert end == 2, f"the log ends at {end}, written were 2 records"
