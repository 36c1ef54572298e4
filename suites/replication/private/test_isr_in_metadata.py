"""ISR, META: the ISRs that all brokers return while brokers are lost and come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.client.cluster import Cluster, PartitionView
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.replication.support.failover import await_in_sync, bring_back
from suites.replication.support.reassigning import ask_to_move, await_moved
from suites.replication.support.sampled import sampled, views_of
from suites.replication.support.spread import ring

PARTITIONS = 2
Seen = list[tuple[int, PartitionView]]


@contextmanager
def _seen_while(cluster: Cluster, topic: Topic) -> Iterator[Seen]:
    """Sample the partitions that brokers return during the block.

    Raises PreparationFailed if no ISR changed its size.
    """
    with sampled(cluster, views_of(topic)) as seen:
        yield seen
    if len({len(view.isr) for _, view in seen}) < 2:
        raise PreparationFailed(f"no broker told of a change: {seen}")


def _lose_each(cluster: Cluster, topic: Topic) -> None:
    """Each broker is killed, one behind the other; so each partition loses its leader once."""
    for node in cluster.nodes[:3]:
        cluster.kill(node)
        for partition in range(PARTITIONS):
            cluster.await_isr(topic, cluster.up[:2], partition)
            cluster.await_leader(topic, partition, among=cluster.up)
        cluster.restart(node)
        for partition in range(PARTITIONS):
            await_in_sync(cluster, topic, node, partition)


@judges("ISR-008")
@needs_broker(Use.CLUSTER)
def test_isr_in_metadata_always_contains_leader(cluster: Cluster) -> None:
    """By every answer of every broker, while each partition loses each of its replicas once."""
    topic = cluster.create_topic(ring(cluster)[:PARTITIONS])
    with requirement("ISR-008"):
        with _seen_while(cluster, topic) as seen:
            _lose_each(cluster, topic)
        for node, view in seen:
            told = f"broker {node} tells of the leader {view.leader} and the ISR {view.isr}"
            assert not view.is_led or view.leader in view.isr, told


@judges("META-013")
@needs_broker(Use.CLUSTER)
def test_isr_in_metadata_is_subset_of_replicas(cluster: Cluster) -> None:
    """Every response of every broker has an ISR of replicas alone.

    The test loses a broker and then, with KRaft, moves a partition. With a ZooKeeper a broker
    learns of a shrink some seconds later, and not at all if all replicas are in sync again by then.
    """
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two]])
    with requirement("META-013"):
        with _seen_while(cluster, topic) as seen:
            cluster.kill(two)
            cluster.await_isr(topic, [one])
            cluster.last_seen(lambda: set(cluster.view(topic).isr), {one}.__eq__)
            bring_back(cluster, topic, two)
            if cluster.registry is None:
                ask_to_move(cluster, topic.name, {0: [two, three]}, None)
                await_moved(cluster, topic, [two, three])
        for node, view in seen:
            told = f"broker {node} tells of the replicas {view.replicas} and the ISR {view.isr}"
            assert set(view.isr) <= set(view.replicas), told


@judges("ISR-012")
@needs_broker(Use.CLUSTER)
def test_isr_change_reaches_metadata_of_all_brokers(cluster: Cluster) -> None:
    """A follower is killed, and is in sync again."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two, three]])
    with requirement("ISR-012"):
        cluster.kill(three)
        _expect_told(cluster, topic, {one, two})
        cluster.restart(three)
        _expect_told(cluster, topic, {one, two, three})


def _expect_told(cluster: Cluster, topic: Topic, isr: set[int]) -> None:
    """Each broker that is up soon returns this ISR."""
    everyone = dict.fromkeys(cluster.up, isr)
    found = cluster.last_seen(
        lambda: {node: set(cluster.view(topic, by=node).isr) for node in cluster.up},
        lambda seen: seen == everyone,
    )
    assert found == everyone, f"the brokers tell of the ISRs {found}, it is {isr}"
