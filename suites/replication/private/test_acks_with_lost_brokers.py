"""ACKS, with four replicas: what is written and what is kept while brokers are lost."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of
from suites.replication.support.failover import bring_back, lose_leader
from suites.replication.support.workload import under_load

ROUNDS = 3
TOO_FEW = {ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}


def _replicated(cluster: Cluster, min_in_sync: int) -> Topic:
    """Create a topic on four brokers; the last of them leads, and the first is its successor.

    While too few replicas are in sync no leader should change: a new one returns no end of its log
    (KAFKA-15583).
    """
    one, two, three, four = cluster.nodes[:4]
    settings = {"min.insync.replicas": str(min_in_sync)}
    return cluster.create_topic([[four, one, two, three]], settings)


def _lose(cluster: Cluster, topic: Topic, node: int) -> None:
    """Kill the broker; wait until it is out of the ISR and the partition has a leader."""
    cluster.kill(node)
    cluster.await_isr(topic, cluster.up)
    cluster.leader(topic)


def _write(cluster: Cluster, topic: Topic, value: bytes) -> int:
    return cluster.leader_client(topic).produce(topic, batch_of(value), acks=-1).error_code


def _expect_there(cluster: Cluster, topic: Topic, values: Sequence[bytes], when: str) -> None:
    found = cluster.last_seen(
        lambda: values_of(cluster.leader_client(topic).fetch(topic, 0)),
        lambda seen: seen == list(values),
    )
    assert found == list(values), f"{when}: acknowledged {list(values)}, there is {found}"


@judges("ACKS-011")
@needs_broker(Use.CLUSTER, nodes=4)
def test_acks_all_with_4_replicas_min_isr_3_survives_one_broker_loss(cluster: Cluster) -> None:
    """One may be lost; with two lost nothing more is taken; with three lost all is still there."""
    one, two, three, four = cluster.nodes[:4]
    topic = _replicated(cluster, 3)
    with requirement("ACKS-011"):
        expect_error(_write(cluster, topic, b"a"), ErrorCode.NONE, "nobody is lost")
        _lose(cluster, topic, four)
        expect_error(_write(cluster, topic, b"b"), ErrorCode.NONE, "one is lost")
        _lose(cluster, topic, three)
        code = _write(cluster, topic, b"refused")
        assert code in TOO_FEW, f"two are lost: {ErrorCode.describe(code)}"
        _expect_there(cluster, topic, [b"a", b"b"], "two are lost")
        _lose(cluster, topic, two)
        _expect_there(cluster, topic, [b"a", b"b"], f"only {one} is left")


@judges("ACKS-012")
@needs_broker(Use.CLUSTER, nodes=4)
def test_acks_all_with_4_replicas_min_isr_2_survives_two_broker_losses(cluster: Cluster) -> None:
    """Two may be lost."""
    *_, three, four = cluster.nodes[:4]
    topic = _replicated(cluster, 2)
    with requirement("ACKS-012"):
        written = []
        for dead in (None, four, three):
            if dead is not None:
                _lose(cluster, topic, dead)
            written.append(b"with %d" % len(cluster.up))
            expect_error(_write(cluster, topic, written[-1]), ErrorCode.NONE, f"{cluster.up} left")
        _expect_there(cluster, topic, written, "two are lost")


@judges("ACKS-014")
@needs_broker(Use.CLUSTER, nodes=4)
def test_acks_all_with_4_replicas_min_isr_1_survives_three_broker_losses(cluster: Cluster) -> None:
    """Three may be lost: the last is written and read."""
    _, two, three, four = cluster.nodes[:4]
    topic = _replicated(cluster, 1)
    with requirement("ACKS-014"):
        written = []
        for dead in (four, three, two):
            _lose(cluster, topic, dead)
            written.append(b"with %d" % len(cluster.up))
            expect_error(_write(cluster, topic, written[-1]), ErrorCode.NONE, f"{cluster.up} left")
        _expect_there(cluster, topic, written, "three are lost")


@judges("ACKS-015")
@needs_broker(Use.CLUSTER)
def test_acks_all_records_survive_repeated_leader_kills(cluster: Cluster) -> None:
    """The leader is killed three times under load."""
    topic = cluster.create_topic()
    with requirement("ACKS-015"):
        with under_load(cluster, topic) as workload:
            for _ in range(ROUNDS):
                workload.await_more()
                dead, _now = lose_leader(cluster, topic)
                workload.await_more()
                bring_back(cluster, topic, dead)
        workload.expect_nothing_lost()
