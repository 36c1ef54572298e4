"""DELR: the replicas and topics that accept a deletion of records."""

from __future__ import annotations

from functools import partial

from harness.client.broker import PreparationFailed
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.deleted_records import ask_to_delete, delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import records_of
from suites.replication.support.reading import follower_version
from suites.replication.support.reassigning import ask_to_move, await_moved

VALUES = (b"a", b"b", b"c")
DELETED = 4
"""Within the second batch of VALUES."""


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


@judges("DELR-008")
def test_new_replica_begins_at_log_start_after_delete_records(cluster: Cluster) -> None:
    """It becomes a replica when the records below are deleted, within a batch, and never had them.

    Both replicas are read: what is above the log start is whole.
    """
    leader, new, _ = cluster.nodes[:3]
    topic = cluster.create_topic([[leader]], {"min.insync.replicas": "1"})
    version = follower_version(cluster, topic)
    append(cluster.at(leader), topic, *[batch_of(*VALUES)] * 2)
    delete_records(cluster.at(leader), topic, DELETED)
    codes = ask_to_move(cluster, topic.name, {0: [leader, new]}, None)
    if codes != {0: ErrorCode.NONE}:
        raise PreparationFailed(f"AlterPartitionReassignments: {codes}")
    await_moved(cluster, topic, [leader, new])
    end = 2 * len(VALUES)
    with requirement("DELR-008") as check:
        for node, role in ((leader, "the leader"), (new, "the new replica")):
            with check.subtest(role):
                data = cluster.last_seen(
                    partial(cluster.at(node).fetch, topic, DELETED, version),
                    lambda data: data.error_code == ErrorCode.NONE and data.high_watermark == end,
                )
                expect_error(data.error_code, ErrorCode.NONE, role)
                start = data.log_start_offset
                assert start == DELETED, f"{role}: its log starts at {start}, not at {DELETED}"
                found = [offset for offset, _ in records_of(data) if offset >= DELETED]
                assert found == list(range(DELETED, end)), f"{role} has the offsets {found}"
                below = cluster.at(node).fetch(topic, DELETED - 1, version)
                expect_error(below.error_code, ErrorCode.OFFSET_OUT_OF_RANGE, f"{role}, below")


@judges("DELR-002")
@at_versions("DeleteRecords")
def test_delete_records_at_minus_1_is_answered_when_all_replicas_begin_at_high_watermark(
    cluster: Cluster, api_version: int
) -> None:
    """Three replicas, and nothing is written meanwhile: their logs are empty then."""
    topic = cluster.create_topic([cluster.nodes[:3]])
    leader = cluster.at(cluster.leader(topic))
    append(leader, topic, batch_of(*VALUES))
    leader.eventually(lambda: leader.end_offset(topic) == 3, "the records are committed")
    with requirement("DELR-002"):
        answer = ask_to_delete(leader, topic, -1, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "three replicas, offset -1")
        low = answer.low_watermark
        assert low == 3, f"three replicas, offset -1: the low watermark is {low}, expected 3"
