"""Brokers that are cut off: from who coordinates them, from each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.client.cluster import NOBODY, Cluster
from harness.client.requests import Topic
from harness.marks import private_cluster

SESSION_MS = 8_000
"""Longer than the pauses of a busy machine, so that only what is cut is given up."""
GIVE_UP_MS = 3_000
"""An old follower knows no new leader before it has given up what it asked the one before."""
DEPOSED_MS = 60_000
"""A controller of a ZooKeeper cluster goes on only when an answer that it awaits from the broker
that is cut off is overdue, after 30 s (``controller.socket.timeout.ms``)."""
LAG_MS = 2_000
"""``replica.lag.time.max.ms`` of the clusters; twice in that time it is looked who is behind."""

F = TypeVar("F", bound=Callable[..., object])


def linked_cluster() -> Callable[[F], F]:
    """The mark for a private cluster whose links can be cut."""
    return private_cluster(
        links=True,
        broker__session__timeout__ms=str(SESSION_MS),
        zookeeper__session__timeout__ms=str(SESSION_MS),
        replica__socket__timeout__ms=str(GIVE_UP_MS),
    )


def coordinator_of(cluster: Cluster) -> str:
    """Whom a broker has to reach to stay alive: the end of a link."""
    return "controller" if cluster.registry is None else "zookeeper"


def controller_of(cluster: Cluster) -> int | str:
    """Who decides about ISRs: the end of a link; with a ZooKeeper it is a broker."""
    return "controller" if cluster.registry is None else cluster.controller()


def committed_isr(cluster: Cluster, topic: Topic, witness: int, partition: int = 0) -> set[int]:
    """By ZooKeeper, or by a broker that hears of the controller."""
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
    """From all brokers, both ways, and from who coordinates it; clients reach it still."""
    cluster.links[node, coordinator_of(cluster)].cut()
    for other in cluster.nodes:
        if other != node:
            cluster.links.between(node, other).cut()


def leader_without(cluster: Cluster, topic: Topic, old: int) -> int:
    """Whom the others name as leader of partition 0; NOBODY while they name several, or ``old``."""
    named = {cluster.view(topic, by=node).leader for node in cluster.others(old)}
    return named.pop() if len(named) == 1 and old not in named else NOBODY


def await_deposed(cluster: Cluster, topic: Topic, old: int) -> int:
    """Until the others have another leader, which serves; who it is."""

    def another() -> int:
        now = leader_without(cluster, topic, old)
        if now != NOBODY:
            cluster.at(now).end_offset(topic)
        return now

    what = f"another than {old} leads"
    return cluster.await_that(another, lambda now: now != NOBODY, what, DEPOSED_MS)
