"""DELR: the replicas and topics that accept a deletion of records."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.deleted_records import ask_to_delete
from suites.protocol.support.expect import expect_error


@judges("DELR-005")
@at_versions("DeleteRecords")
def test_delete_records_at_follower_returns_not_leader_or_follower(
    cluster: Cluster, api_version: int
) -> None:
    """A follower refuses, and all records stay."""
    leader, follower, _ = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]])
    append(cluster.at(leader), topic, batch_of(b"a", b"b"))
    with requirement("DELR-005"):
        refused = ask_to_delete(cluster.at(follower), topic, 1, api_version)
        expect_error(refused.error_code, ErrorCode.NOT_LEADER_OR_FOLLOWER, "at a follower")
        start = cluster.at(leader).list_offset(topic, -2).offset
        assert start == 0, f"the log now starts at {start}"


@judges("DELR-005")
@at_versions("DeleteRecords")
def test_delete_records_of_unknown_or_compacted_topic_returns_error(
    cluster: Cluster, api_version: int
) -> None:
    """A topic that is not there, and one that is only compacted."""
    compacted = cluster.create_topic([[cluster.nodes[0]]], {"cleanup.policy": "compact"})
    with requirement("DELR-005") as check:
        for topic, code in (
            (Topic(cluster.unique_topic()), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            (compacted, ErrorCode.POLICY_VIOLATION),
        ):
            with check.subtest(code.name):
                answer = ask_to_delete(cluster.at(cluster.nodes[0]), topic, 0, api_version)
                expect_error(answer.error_code, code)
