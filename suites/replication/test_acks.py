"""ACKS: what acks=all needs."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.appended import batch_of
from suites.protocol.expect import expect_error


@judges("ACKS-009")
def test_no_more_replicas_are_needed_than_there_are(cluster: Cluster) -> None:
    """Two replicas, and five that would have to be in sync."""
    one, two = cluster.nodes[:2]
    topic = cluster.create_topic([[one, two]], {"min.insync.replicas": "5"})
    with requirement("ACKS-009"):
        answer = cluster.at(one).produce(topic, batch_of(b"r"), acks=-1)
        expect_error(answer.error_code, ErrorCode.NONE, "acks=all with both in sync")
