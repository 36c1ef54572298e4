"""Partitions without a leader: the last in sync is down, and the one that returns lacks records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.cluster import NOBODY, Cluster
from harness.client.requests import Topic
from suites.protocol.support.appended import append, batch_of

ON_BOTH, ON_LAST = b"on both", b"on the last"
SMALLEST = {"min.insync.replicas": "1"}
NO_UNCLEAN = {"unclean.leader.election.enable": "false"}
UNCLEAN = {"unclean.leader.election.enable": "true"}


def left_behind(
    cluster: Cluster, each: Sequence[Mapping[str, str]], *, preferred_lags: bool = False
) -> tuple[list[Topic], int, int]:
    """Create a topic with each of these configs, and kill its two brokers one after the other.

    Return the topics, the last in sync, and the one that lags. The first record is on both, the
    second on the last in sync alone. That one is the first of the replicas, unless the preferred
    leader has to lag.
    """
    last, lagging = cluster.nodes[1:3]
    replicas = [lagging, last] if preferred_lags else [last, lagging]
    topics = [cluster.create_topic([replicas], {**SMALLEST, **configs}) for configs in each]
    for topic in topics:
        append(cluster.leader_client(topic), topic, batch_of(ON_BOTH))
    cluster.kill(lagging)
    for topic in topics:
        cluster.await_isr(topic, [last])
        cluster.await_leader(topic, among=[last])
        append(cluster.at(last), topic, batch_of(ON_LAST))
    cluster.kill(last)
    cluster.await_brokers(cluster.up)
    return topics, last, lagging


def lagging_is_back(cluster: Cluster, lagging: int) -> None:
    """The broker that lacks records runs again, and all know it."""
    cluster.restart(lagging)
    cluster.await_brokers(cluster.up)


def leaders_told(cluster: Cluster, topic: Topic) -> set[int]:
    """Return the leaders that the brokers name, of all brokers that are up."""
    return {cluster.view(topic, by=node).leader for node in cluster.up}


def await_nobody(cluster: Cluster, topic: Topic) -> None:
    """Wait until all brokers that are up name no leader."""
    cluster.await_that(
        lambda: leaders_told(cluster, topic),
        lambda seen: seen == {NOBODY},
        f"nobody leads {topic.name}",
    )
