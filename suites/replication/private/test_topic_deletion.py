"""TOPIC: a topic is deleted while a broker is away."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.deletion import delete_topics
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of


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


def _known(cluster: Cluster, name: str) -> set[int]:
    """The brokers that list the topic; they are not asked by name, which could make it."""
    return {
        node
        for node in cluster.up
        if name in {topic.name for topic in cluster.at(node).metadata(None).topics}
    }
