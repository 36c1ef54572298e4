"""TOPIC: a topic is deleted while a broker is away, and may be made again."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.deletion import delete_topics
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import KRAFT_CONTROLLER
from suites.protocol.support.appended import append, batch_of
from suites.replication.support.reading import follower_version, read_all


@judges("TOPIC-033")
@needs_broker(Use.CLUSTER)
def test_topic_deleted_while_broker_is_down_does_not_return(cluster: Cluster) -> None:
    """One of its brokers was killed before; when it is back, no broker knows the topic."""
    topic = cluster.create_topic()
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    away = cluster.nodes[-1]
    cluster.kill(away)
    cluster.await_brokers(cluster.up)
    delete_topics(cluster.at(cluster.controller()), [topic.name])
    with requirement("TOPIC-033"):
        cluster.await_that(lambda: not _known(cluster, topic.name), bool, "nobody knows the topic")
        cluster.restart(away)
        cluster.await_brokers(cluster.nodes)
        later = cluster.create_topic([[away]])
        assert _known(cluster, later.name) == set(cluster.nodes), "a later topic is not known"
        knows = _known(cluster, topic.name)
        assert not knows, f"the deleted topic is known to {sorted(knows)}"


@judges("TOPIC-042")
@needs_broker(Use.CLUSTER)
def test_topic_made_again_while_broker_is_down_has_no_records_of_former_topic(
    cluster: Cluster,
) -> None:
    """The broker has three records of the former topic when it is back, and the new one has one."""
    if cluster.registry is not None:
        raise NotApplicable(KRAFT_CONTROLLER, "with a ZooKeeper a deletion waits for all brokers")
    leader, other, away = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, other, away]])
    follower_version(cluster, topic)
    append(cluster.at(leader), topic, *(batch_of(b"former") for _ in range(3)))
    cluster.kill(away)
    cluster.await_brokers(cluster.up)
    delete_topics(cluster.at(cluster.controller()), [topic.name])
    cluster.await_that(lambda: not _known(cluster, topic.name), bool, "no broker knows the topic")
    again = cluster.create_topic([[leader, other, away]], name=topic.name)
    append(cluster.at(leader), again, batch_of(b"new"))
    with requirement("TOPIC-042"):
        cluster.restart(away)
        cluster.await_brokers(cluster.nodes)
        cluster.await_isr(again, [leader, other, away])
        append(cluster.at(leader), again, batch_of(b"last"))
        found = read_all(cluster, away, again, 2)
        assert found == [(0, b"new"), (1, b"last")], f"the broker that was away has {found}"


def _known(cluster: Cluster, name: str) -> set[int]:
    """The brokers that list the topic; they are not asked by name, which could make it."""
    return {
        node
        for node in cluster.up
        if name in {topic.name for topic in cluster.at(node).metadata(None).topics}
    }
