"""Brokers that are cut off from their controller or ZooKeeper, and from each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.client.cluster import NOBODY, Cluster
from harness.client.requests import Topic
from harness.runner.broker_request import Use
from harness.runner.marks import needs_broker

SESSION_MS = 8_000
"""Longer than the pauses of a busy machine, so that only a broker that is cut off is given up."""
GIVE_UP_MS = 3_000
"""An old follower learns of no new leader before its request to the former one has timed out."""
DEPOSED_MS = 60_000
"""Time in ms for a change of the leader.

A controller of a ZooKeeper cluster continues only after its request to the broker that is cut off
has timed out, after 30 s (``controller.socket.timeout.ms``).
"""
LAG_MS = 2_000
"""``replica.lag.time.max.ms`` of the clusters; leaders check for lagging followers twice in it."""

F = TypeVar("F", bound=Callable[..., object])


def linked_cluster(session_ms: int = SESSION_MS) -> Callable[[F], F]:
    """The mark for a private cluster with links that can be cut.

    A broker that cannot reach the controller or ZooKeeper is given up after ``session_ms``.
    """
    return needs_broker(
        Use.CLUSTER,
        {
            "broker.session.timeout.ms": str(session_ms),
            "zookeeper.session.timeout.ms": str(session_ms),
            "replica.socket.timeout.ms": str(GIVE_UP_MS),
        },
        links=True,
    )


def coordinator_of(cluster: Cluster) -> str:
    """Return the end of the link that a broker needs to keep its registration."""
    return "controller" if cluster.registry is None else "zookeeper"


def controller_of(cluster: Cluster) -> int | str:
    """Return the end of the link to the node that decides about ISRs; with a ZooKeeper a broker."""
    return "controller" if cluster.registry is None else cluster.controller()


def committed_isr(cluster: Cluster, topic: Topic, witness: int, partition: int = 0) -> set[int]:
    """Return the ISR in ZooKeeper, or in Metadata of a broker that reaches the controller."""
    if cluster.registry is not None:
        return cluster.isr(topic, partition)
    return set(cluster.view(topic, partition, by=witness).isr)


def plain_brokers(cluster: Cluster) -> list[int]:
    """Three brokers; the first two are not the controller, which is a broker with a ZooKeeper."""
    if cluster.registry is None:
        return cluster.nodes[:3]
    controller = cluster.controller()
    return sorted(cluster.nodes[:3], key=lambda node: (node == controller, node))


def cut_off(cluster: Cluster, node: int) -> None:
    """Cut the broker off from all brokers and from its controller or ZooKeeper, in both directions.

    Clients still reach it.
    """
    cluster.links[node, coordinator_of(cluster)].cut()
    for other in cluster.nodes:
        if other != node:
            cluster.links.between(node, other).cut()


def leader_without(cluster: Cluster, topic: Topic, old: int) -> int:
    """Return the leader of partition 0 that the other brokers name.

    NOBODY if they name several leaders, or ``old``.
    """
    named = {cluster.view(topic, by=node).leader for node in cluster.others(old)}
    return named.pop() if len(named) == 1 and old not in named else NOBODY


def await_deposed(cluster: Cluster, topic: Topic, old: int) -> int:
    """Wait until the other brokers have a new leader that serves requests, and return it."""

    def another() -> int:
        now = leader_without(cluster, topic, old)
        if now != NOBODY:
            cluster.at(now).end_offset(topic)
        return now

    what = f"another than {old} leads"
    return cluster.await_that(another, lambda now: now != NOBODY, what, DEPOSED_MS)
