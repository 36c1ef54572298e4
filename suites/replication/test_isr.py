"""ISR: the in-sync replicas while nothing goes wrong."""

from __future__ import annotations

import time
from functools import partial

from harness.base.pace import time_left
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.config_admin import BROKER, values_of
from suites.replication.support.spread import ring
from suites.replication.support.told import told_by

LAG_CONFIG = "replica.lag.time.max.ms"
IDLE_FACTOR = 1.5


@judges("ISR-001")
@at_versions("Metadata")
def test_new_topic_isr_contains_all_replicas(cluster: Cluster, api_version: int) -> None:
    """As soon as a new topic is shown, by each broker."""
    assignment, name = ring(cluster), cluster.unique_topic()
    cluster.order_topic(name, assignment, {})
    with requirement("ISR-001") as check:
        for node in cluster.nodes:
            with check.subtest(f"broker {node}"):
                told = cluster.last_seen(
                    partial(told_by, cluster, node, Topic(name), api_version),
                    lambda told: len(told.partitions) == len(assignment),
                )
                found = {index: set(view.isr) for index, view in told.partitions.items()}
                expected = {index: set(nodes) for index, nodes in enumerate(assignment)}
                assert found == expected, f"broker {node} tells of the ISRs {found}, not {expected}"


@judges("ISR-005")
def test_caught_up_follower_stays_in_isr_while_nothing_is_produced(cluster: Cluster) -> None:
    """Longer than a follower may lag, with a record in the log and none after it."""
    node = cluster.up[0]
    told = values_of(cluster.at(node), (BROKER, str(node)), [LAG_CONFIG])[LAG_CONFIG]
    lag_ms = int(told or 0)
    topic = cluster.create_topic()
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    everyone = set(cluster.replicas(topic))
    with requirement("ISR-005"):
        for _ in time_left(IDLE_FACTOR * lag_ms):
            isr = cluster.isr(topic)
            assert isr == everyone, f"the ISR shrank from {everyone} to {isr} with nothing written"
            time.sleep(0.1)
