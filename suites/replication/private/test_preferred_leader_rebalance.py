"""ELECT: preferred leaders that lead again after the periodic check."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.replication.support.failover import await_in_sync
from suites.replication.support.spread import ring

INTERVAL_S = 2
SHORT_DELAY_MS = 12_000
"""Time in ms for a first check that is later than others, and for the way to all brokers."""


@judges("ELECT-014")
@needs_broker(
    Use.CLUSTER,
    {
        "auto.leader.rebalance.enable": "true",
        "leader.imbalance.check.interval.seconds": str(INTERVAL_S),
    },
)
def test_auto_leader_rebalance_restores_preferred_leader(cluster: Cluster) -> None:
    """A broker was lost, and is in sync again."""
    topic = cluster.create_topic(ring(cluster))
    node = cluster.leader(topic)
    others = cluster.others(node)
    cluster.kill(node)
    cluster.await_leader(topic, among=others)
    cluster.restart(node)
    await_in_sync(cluster, topic, node)
    within_ms = INTERVAL_S * 1000 + SHORT_DELAY_MS
    with requirement("ELECT-014"), in_time(within_ms):
        leader = cluster.last_seen(
            lambda: cluster.view(topic).leader,
            lambda leader: leader == node,
            within_ms=within_ms,
        )
        assert leader == node, f"{leader} leads, preferred and in sync is {node}"
