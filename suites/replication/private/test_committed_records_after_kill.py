"""REPL: what was exposed to consumers and acknowledged to producers stays so."""

from __future__ import annotations

import time
from contextlib import suppress

from harness.client.cluster import Cluster
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import LATEST
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import values_of
from suites.replication.support.failover import bring_back
from suites.replication.support.workload import under_load

ROUNDS = 3
BATCHES = 20


@judges("REPL-019")
@needs_broker(Use.CLUSTER)
def test_list_offsets_latest_never_decreases_after_leader_kill(cluster: Cluster) -> None:
    """No later leader returns an end offset below the one that the killed leader returned."""
    cluster.front.version("ListOffsets", "1+")
    topic = cluster.create_topic()
    with requirement("REPL-019"):
        for _ in range(ROUNDS):
            leader = cluster.leader(topic)
            append(cluster.at(leader), topic, *[batch_of(b"r")] * BATCHES)
            told = cluster.at(leader).end_offset(topic)
            cluster.kill(leader)
            answers = 0
            while answers < BATCHES:
                answers += _expect_not_below(cluster, topic.name, told)
            now = cluster.leader(topic)
            found = len(values_of(cluster.at(now).fetch(topic, 0)))
            assert found == told, f"consumers were told of {told} records, now there are {found}"
            bring_back(cluster, topic, leader)


def _expect_not_below(cluster: Cluster, name: str, told: int) -> int:
    """Ask all that are up for the end; how many answered as a leader does."""
    answers, topic = 0, cluster.named(name)
    for node in cluster.up:
        with suppress(BrokerMisbehaved):
            answer = cluster.at(node).list_offset(topic, LATEST)
            if answer.error_code == ErrorCode.NONE:
                answers += 1
                assert answer.offset >= told, f"{node} tells {answer.offset}, told was {told}"
    time.sleep(0.01)
    return answers


@judges("REPL-030")
@needs_broker(Use.CLUSTER)
def test_acknowledged_records_survive_kill_of_all_replicas(cluster: Cluster) -> None:
    """All replicas at once, under load; then all are started again."""
    topic = cluster.create_topic()
    with requirement("REPL-030"):
        with under_load(cluster, topic) as workload:
            workload.await_more(50)
            for node in cluster.nodes:
                cluster.kill(node)
            for node in cluster.nodes:
                cluster.restart(node)
            cluster.leader(topic)
            workload.await_more()
        workload.expect_nothing_lost()
