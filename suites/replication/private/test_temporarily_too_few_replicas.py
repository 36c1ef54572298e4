"""OFFS, ERR: what fails while too few replicas are in sync, and goes on when they are back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.error_details import error_details
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.committed_offsets import (
    FIRST_IN_KAFKA,
    ask_to_commit,
    commit,
    entry,
    fetch_offsets,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.replication.support.coordinators import CoordinatedGroup, await_coordinator, new_group
from suites.replication.support.failover import await_in_sync

BEFORE, REFUSED, AFTER = 11, 22, 33
OFFSETS = Topic(OFFSETS_TOPIC)


def _leave_alone(cluster: Cluster, topic: Topic, node: int) -> list[int]:
    """Kill all others, until this one is alone in the ISR of all that it holds; the others."""
    others = cluster.others(node)
    for other in others:
        cluster.kill(other)
    for partition, view in cluster.topic_by(node, topic.name).items():
        if node in view.replicas:
            cluster.await_isr(topic, [node], partition)
    return others


def _bring_back(cluster: Cluster, topic: Topic, nodes: list[int]) -> None:
    for node in nodes:
        cluster.restart(node)
    for node in nodes:
        await_in_sync(cluster, topic, node)


def _commit_code(cluster: Cluster, place: CoordinatedGroup, topic: Topic, offset: int) -> int:
    client = cluster.at(place.node)
    version = client.version("OffsetCommit", FIRST_IN_KAFKA)
    codes = ask_to_commit(client, place.group, {topic: [entry(offset)]}, version)
    return codes[topic.name, 0]


@judges("OFFS-016")
@needs_broker(Use.CLUSTER)
def test_offset_commit_below_min_isr_returns_coordinator_not_available(cluster: Cluster) -> None:
    """The coordinator is alone in the ISR, and returns the offset that was committed before."""
    topic, place = cluster.create_topic(), new_group(cluster)
    commit(cluster.at(place.node), place.group, {topic: [entry(BEFORE)]})
    _leave_alone(cluster, OFFSETS, place.node)
    with requirement("OFFS-016"):
        code = _commit_code(cluster, place, topic, REFUSED)
        expect_error(code, ErrorCode.COORDINATOR_NOT_AVAILABLE, "the coordinator is alone")
        kept = fetch_offsets(cluster.at(place.node), place.group, {topic: [0]})
        kept.expect(topic, BEFORE, where="the coordinator")


@judges("ERR-004")
@needs_broker(Use.CLUSTER)
def test_retriable_errors_below_min_isr_end_when_replicas_return(cluster: Cluster) -> None:
    """Too few are in sync, for records and for commits; then all are back, and both succeed.

    A leader may learn later than others that too few are in sync.
    """
    topic = cluster.create_topic(configs={"min.insync.replicas": "2"})
    place = new_group(cluster)
    commit(cluster.at(place.node), place.group, {topic: [entry(BEFORE)]})
    others = _leave_alone(cluster, topic, place.node)
    cluster.await_leader(topic, among=[place.node])
    asked: dict[str, Callable[[], int]] = {
        "Produce": lambda: cluster.leader_client(topic).produce(topic, batch_of(b"r")).error_code,
        "OffsetCommit": partial(_commit_code, cluster, place, topic, AFTER),
    }
    with requirement("ERR-004"):
        for api, ask in asked.items():
            code = cluster.last_seen(ask, lambda code: code != ErrorCode.NONE)
            details = error_details().get(code)
            told = f"{api} with too few in sync: {ErrorCode.describe(code)}"
            assert details is not None, told
            assert details.retriable, told
        _bring_back(cluster, topic, others)
        await_coordinator(cluster, place.group)
        for api, ask in asked.items():
            code = cluster.last_seen(ask, lambda code: code == ErrorCode.NONE)
            expect_error(code, ErrorCode.NONE, f"{api} when all are back")
