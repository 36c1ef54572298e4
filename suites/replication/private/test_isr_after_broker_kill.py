"""ISR: a broker that is gone is in no ISR."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.replication.support.spread import ring


@judges("ISR-007")
@needs_broker(Use.CLUSTER)
def test_killed_broker_leaves_isr_of_every_partition(cluster: Cluster) -> None:
    """Of partitions that it led and that others lead."""
    topic = cluster.create_topic(ring(cluster))
    dead = cluster.nodes[1]
    cluster.kill(dead)
    with requirement("ISR-007"):
        left = [node for node in cluster.nodes[:3] if node != dead]
        for partition in range(3):
            cluster.await_isr(topic, left, partition)
            cluster.await_leader(topic, partition, among=left)
