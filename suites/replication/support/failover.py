"""Changes of a partition's leader: by the end of its broker, or by its return."""

from __future__ import annotations

from collections.abc import Iterable

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.conformance.checks import Inconclusive


def lose_leader(
    cluster: Cluster, topic: Topic, partition: int = 0, *, in_order: bool = False
) -> tuple[int, int]:
    """Kill the leader's broker, or stop it ``in_order``; return the former and the new leader."""
    before = cluster.leader(topic, partition)
    (cluster.stop if in_order else cluster.kill)(before)
    others = cluster.others(before)
    return before, cluster.await_leader(topic, partition, among=others)


def bring_back(cluster: Cluster, topic: Topic, node: int, partition: int = 0) -> None:
    """Start the broker again; until its replica is in sync."""
    cluster.restart(node)
    await_in_sync(cluster, topic, node, partition)


def await_in_sync(cluster: Cluster, topic: Topic, node: int, partition: int = 0) -> None:
    """Wait until the replica on this node is in the ISR, and Metadata names a leader."""
    cluster.await_that(
        lambda: node in cluster.isr(topic, partition),
        bool,
        f"the replica of {topic.name}-{partition} on {node} is in sync",
    )
    cluster.leader(topic, partition)


def change_leader(
    cluster: Cluster, topic: Topic, partition: int = 0, *, in_order: bool = False
) -> int:
    """Another leader, and everybody in sync again; the new leader."""
    before, now = lose_leader(cluster, topic, partition, in_order=in_order)
    bring_back(cluster, topic, before, partition)
    return now


def leader_of_all(cluster: Cluster, partitions: Iterable[tuple[Topic, int]]) -> int:
    """Return the one broker that leads and serves these partitions; raises Inconclusive for two."""
    leaders = {cluster.leader(topic, partition) for topic, partition in partitions}
    if len(leaders) > 1:
        raise Inconclusive(f"the partitions have the leaders {leaders}")
    return leaders.pop()
