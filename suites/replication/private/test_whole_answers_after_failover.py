"""REPL, COORD: whole answers are the same when another broker gives them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.committed_offsets import commit, entry
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.group_answers import (
    RichGroups,
    committed_offsets,
    described_groups,
)
from suites.protocol.support.log_answers import epoch_ends, fetched, offsets_by_time, producers
from suites.protocol.support.rich_logs import (
    FEW,
    IDEMPOTENT,
    MANY,
    SMALL_INDEX,
    fill,
    grow,
    partitions_of,
    times_of,
)
from suites.protocol.support.whole_answers import WholeAnswers, expect_same
from suites.protocol.support.writers import Writer
from suites.replication.support.coordinators import PlacedGroups, await_offsets_topic
from suites.replication.support.failover import leader_of_all

PARTITIONS = FEW + 1


@judges("REPL-031")
@needs_broker(Use.CLUSTER)
def test_new_leader_answers_as_former_leader_did(cluster: Cluster) -> None:
    """Two leaders are killed, one after the other; records are appended between."""
    topic = cluster.create_topic([cluster.nodes[:3]] * PARTITIONS, SMALL_INDEX)
    partitions = partitions_of({topic: PARTITIONS})
    leader = leader_of_all(cluster, partitions)
    fill(cluster.at(leader), topic, PARTITIONS)
    writer = Writer(cluster.at(leader), topic, IDEMPOTENT)
    writer.append(2)
    for number in (1, 2):
        before = _of_logs(cluster.at(leader), topic)
        cluster.kill(leader)
        now = leader_of_all(cluster, partitions)
        when = f"after failover {number}, by broker {now},"
        with requirement("REPL-031"):
            _expect_same_logs(cluster.at(now), topic, before, when)
            writer.client = cluster.at(now)
            writer.expect_goes_on(when)
        grow(cluster.at(now), {topic: PARTITIONS})
        cluster.restart(leader)
        for partition in range(PARTITIONS):
            cluster.await_isr(topic, cluster.nodes[:3], partition)
        leader = leader_of_all(cluster, partitions)


def _expect_same_logs(
    client: BrokerUnderTest, topic: Topic, before: WholeAnswers, when: str
) -> None:
    expect_same(client, before, lambda: _of_logs(client, topic), when)


def _of_logs(client: BrokerUnderTest, topic: Topic) -> WholeAnswers:
    logs = {topic: PARTITIONS}
    written = batches_of(client, topic, MANY)
    answers = fetched(client, logs) | offsets_by_time(client, logs, times_of(client, logs))
    answers |= epoch_ends(client, logs, {one.partition_leader_epoch for one in written})
    return answers | (producers(client, logs) if client.advertised("DescribeProducers") else {})


@judges("COORD-007")
@needs_broker(Use.CLUSTER)
def test_new_coordinator_answers_as_former_coordinator_did(cluster: Cluster) -> None:
    """Two coordinators are killed, one after the other; members go on between."""
    topic, places = cluster.create_topic(), PlacedGroups(cluster)
    groups = RichGroups(places.client_of, topic, places.new)
    for number in (1, 2):
        _commit(places, groups.names, topic, number)
        before, dead = _of_groups(places, groups.names), places.node_of(groups.names[0])
        cluster.kill(dead)
        when = f"after failover {number}"
        with requirement("COORD-007"):
            places.settle(other_than=dead)
            _expect_same_groups(places, groups.names, before, f"{when},")
            groups.expect_goes_on(f"{when},")
        cluster.restart(dead)
        cluster.await_brokers(cluster.nodes)
        await_offsets_topic(cluster)
        places.settle()


def _commit(places: PlacedGroups, groups: Sequence[str], topic: Topic, number: int) -> None:
    """Commit for a group without members."""
    empty = groups[1]
    for offset in (number + 5, number):  # the newest counts, not the largest
        one = entry(offset, f"metadata {number}")
        one.committed_leader_epoch = number
        commit(places.client_of(empty), empty, {topic: [one]})


def _expect_same_groups(
    places: PlacedGroups, groups: Sequence[str], before: WholeAnswers, when: str
) -> None:
    client = places.client_of(groups[0])
    expect_same(client, before, lambda: _of_groups(places, groups), when)


def _of_groups(places: PlacedGroups, groups: Sequence[str]) -> WholeAnswers:
    answers = described_groups(places.client_of, groups)
    for group in groups:
        found = committed_offsets(places.client_of(group), {group: None})
        answers |= {f"{group}: {path}": value for path, value in found.items()}
    return answers
