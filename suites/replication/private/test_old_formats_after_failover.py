"""REPL: a new leader has the messages of the formats before batches as the former leader had."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.old_logs import OldLogs
from suites.protocol.support.whole_answers import expect_same
from suites.replication.support.failover import leader_of_all


@judges("REPL-039")
@needs_broker(Use.CLUSTER)
def test_new_leader_returns_messages_of_older_formats_as_former_leader(cluster: Cluster) -> None:
    """In each codec, in several segments; two leaders are killed, more are appended between."""
    replicas = [cluster.nodes[:3]]
    first = cluster.at(cluster.nodes[0])
    logs = OldLogs(first, lambda configs: cluster.create_topic(replicas, configs))
    partitions = [(topic, 0) for topic in logs.topics]
    for number in (1, 2):
        leader = leader_of_all(cluster, partitions)
        logs.client = cluster.at(leader)
        logs.append(b"before failover %d" % number)
        before = logs.answers()
        cluster.kill(leader)
        now = leader_of_all(cluster, partitions)
        logs.client = cluster.at(now)
        with requirement("REPL-039"):
            when = f"after failover {number}, by broker {now},"
            expect_same(logs.client, before, logs.answers, when)
        cluster.restart(leader)
        for topic in logs.topics:
            cluster.await_isr(topic, cluster.nodes[:3])
