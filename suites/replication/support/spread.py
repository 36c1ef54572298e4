"""Assignments of replicas to brokers, for topics of tests on clusters of any three brokers."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic


def one_leader_each(cluster: Cluster) -> list[list[int]]:
    """A partition for each broker, which holds it alone."""
    return [[node] for node in cluster.nodes]


def ring(cluster: Cluster) -> list[list[int]]:
    """Three partitions on the first three brokers, each of which leads one."""
    one, two, three = cluster.nodes[:3]
    return [[one, two, three], [two, three, one], [three, one, two]]


def follower_of(cluster: Cluster, topic: Topic, partition: int = 0) -> BrokerUnderTest:
    """Return a client of a replica that does not lead."""
    view = cluster.view(topic, partition)
    return cluster.at(next(node for node in view.replicas if node != view.leader))
