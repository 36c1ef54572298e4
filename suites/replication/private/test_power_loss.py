"""RECV: a replica with a disk that has lost its unflushed data recovers it from the others."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.whole_log import acknowledged, expect_lost_at_most, stored

SENT = 29


def _is_on_disk(cluster: Cluster, node: int, value: bytes) -> bool:
    """True if any file of this node contains the value."""
    files = (each for each in cluster.disks[node].path.rglob("*") if each.is_file())
    return any(value in each.read_bytes() for each in files)


def _lose_power(cluster: Cluster, node: int, value: bytes) -> None:
    """Raises PreparationFailed when that has not cost the node this value."""
    cluster.lose_power(node)
    cluster.restore_power(node)
    if _is_on_disk(cluster, node, value):
        raise PreparationFailed(f"broker {node} has lost nothing: {value!r} is on its disk")


@judges("RECV-014")
@needs_broker(Use.CLUSTER, disks=True)
def test_replica_refetches_records_lost_in_power_loss(cluster: Cluster) -> None:
    """The leader's disk loses power; another leads, and what was acknowledged by acks=all is there.

    It is fenced before it comes back. When it is in sync again it leads alone, and has all too.
    """
    topic = cluster.create_topic()
    leader = cluster.leader(topic)
    sent = acknowledged(cluster.leader_client(topic), topic, SENT, acks=[-1])
    value = sent[-1][1] or b""
    others = cluster.others(leader)
    cluster.await_that(
        lambda: _is_on_disk(cluster, leader, value), bool, f"broker {leader} has written"
    )
    _lose_power(cluster, leader, value)
    cluster.await_leader(topic, among=others)
    cluster.await_isr(topic, others)
    cluster.await_brokers(others)
    with requirement("RECV-014"):
        found = stored(cluster.leader_client(topic), topic, SENT)
        expect_lost_at_most(found, sent, 0, f"without broker {leader}")
    cluster.restart(leader)
    cluster.await_isr(topic, [leader, *others])
    for node in others:
        cluster.stop(node)
    cluster.await_leader(topic, among=[leader])
    with requirement("RECV-014"):
        found = stored(cluster.at(leader), topic, SENT)
        expect_lost_at_most(found, sent, 0, f"at broker {leader}, which had lost power,")
