"""EPOCH: after all faults of leaders and links, all replicas have one log in the end."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.replication.support.alike import expect_alike
from suites.replication.support.asked_as import produce_as
from suites.replication.support.cutting import await_deposed, cut_off, linked_cluster, plain_brokers
from suites.replication.support.failover import await_in_sync, bring_back, lose_leader
from suites.replication.support.workload import under_load

SOON_MS = 1_000
ZOMBIES = 5


@judges("EPOCH-009")
@linked_cluster()
def test_all_replicas_have_identical_logs_after_leader_and_link_faults(cluster: Cluster) -> None:
    """Under load a leader is killed, one is frozen, one is cut off and takes records; a follower
    is cut off."""
    topic = cluster.create_topic([plain_brokers(cluster)])
    with requirement("EPOCH-009"):
        with under_load(cluster, topic) as workload:
            workload.await_more()
            dead, _ = lose_leader(cluster, topic)
            workload.await_more()
            bring_back(cluster, topic, dead)
            _freeze_the_leader(cluster, topic)
            workload.await_more()
            _have_a_zombie(cluster, topic)
            workload.await_more()
            _cut_a_follower(cluster, topic)
            workload.await_more()
        cluster.await_isr(topic, cluster.nodes[:3])
        expect_alike(cluster, topic, "EPOCH-009")


def _freeze_the_leader(cluster: Cluster, topic: Topic) -> None:
    """Pause the leader until it is deposed; after it is resumed it does not know so yet."""
    old = cluster.leader(topic)
    cluster.pause(old)
    await_deposed(cluster, topic, old)
    cluster.resume(old)
    await_in_sync(cluster, topic, old)


def _have_a_zombie(cluster: Cluster, topic: Topic) -> None:
    """Cut the leader off, write records that no other broker gets, and let it come back."""
    old = cluster.leader(topic)
    cut_off(cluster, old)
    for number in range(ZOMBIES):
        value = b"zombie-%d" % number
        produce_as("zombie", cluster.at(old), topic, value, acks=1, timeout_ms=SOON_MS)
    await_deposed(cluster, topic, old)
    cluster.links.heal()
    await_in_sync(cluster, topic, old)


def _cut_a_follower(cluster: Cluster, topic: Topic) -> None:
    """Cut a follower off until it is out of sync, and let it come back."""
    leader = cluster.leader(topic)
    follower, third = cluster.others(leader)[:2]
    cluster.links[follower, leader].cut()
    cluster.await_isr(topic, {leader, third})
    cluster.links.heal()
    await_in_sync(cluster, topic, follower)
