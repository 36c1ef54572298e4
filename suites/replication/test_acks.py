"""ACKS: what acks=all needs."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error


@judges("ACKS-009")
def test_acks_all_with_min_insync_replicas_above_replica_count_succeeds(cluster: Cluster) -> None:
    """Two replicas, and five that would have to be in sync."""
    one, two = cluster.nodes[:2]
    topic = cluster.create_topic([[one, two]], {"min.insync.replicas": "5"})
    with requirement("ACKS-009"):
        answer = cluster.at(one).produce(topic, batch_of(b"r"), acks=-1)
        expect_error(answer.error_code, ErrorCode.NONE, "acks=all with both in sync")
