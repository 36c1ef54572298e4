"""ISR: a change that the controller has not answered is none."""

from __future__ import annotations

from functools import partial

from harness.client.cluster import NOBODY, Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.marks import judges
from suites.replication.support.asked_as import produce_as
from suites.replication.support.cutting import (
    LAG_MS,
    committed_isr,
    controller_of,
    leader_without,
    linked_cluster,
    plain_brokers,
)
from suites.replication.support.failover import await_in_sync

WAIT_MS = 2 * LAG_MS
"""The lag in ms after which a leader has certainly requested a smaller ISR.

It is less than the session of the leader, which cannot reach the controller.
"""


@judges("ISR-013")
@linked_cluster()
def test_unanswered_alter_partition_leaves_committed_isr_in_force(cluster: Cluster) -> None:
    """The leader cannot reach the controller, one follower cannot reach the leader."""
    leader, follower, third = plain_brokers(cluster)
    topic = cluster.create_topic([[leader, follower, third]])
    controller = controller_of(cluster)
    cluster.links[leader, controller].cut()
    cluster.links[follower, leader].cut()
    with requirement("ISR-013"):
        asked = cluster.at(leader)
        answer = produce_as("ISR-013", asked, topic, b"r", acks=-1, timeout_ms=WAIT_MS)
        code = None if answer is None else answer.error_code
        assert code != ErrorCode.NONE, (
            f"{follower} cannot fetch and is in the committed ISR; acks=all is acknowledged"
        )
        if leader_without(cluster, topic, leader) != NOBODY:
            raise Inconclusive("the session of the leader ended before it was looked")
        isr = committed_isr(cluster, topic, third)
        assert isr == {leader, follower, third}, f"no shrink was committed, the ISR is {isr}"
        cluster.links[leader, controller].heal()
        left = {leader, third}
        isr = cluster.last_seen(
            partial(committed_isr, cluster, topic, third), lambda isr: isr == left
        )
        assert isr == left, f"the controller is reached again, the ISR is {isr}, not {left}"
        again = produce_as("ISR-013", asked, topic, b"s", acks=-1, timeout_ms=WAIT_MS)
        code = None if again is None else again.error_code
        assert code == ErrorCode.NONE, f"with the ISR {isr}: {code}"
        cluster.links.heal()
        await_in_sync(cluster, topic, follower)
