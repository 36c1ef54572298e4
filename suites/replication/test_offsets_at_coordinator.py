"""OFFS: the broker that keeps the offsets of a group."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    ask_to_commit,
    commit,
    entry,
    fetch_offsets,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import delete_topic
from suites.replication.support.coordinators import new_group

OFFSET = 7


@judges("OFFS-013")
@at_versions("OffsetCommit", "1+")
def test_offset_commit_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """All others refuse, and nothing is committed."""
    topic, place = cluster.create_topic(), new_group(cluster)
    with requirement("OFFS-013") as check:
        for node in cluster.others(place.node):
            with check.subtest(f"broker {node}"):
                codes = ask_to_commit(
                    cluster.at(node), place.group, {topic: [entry(OFFSET)]}, api_version
                )
                expect_error(codes[topic.name, 0], ErrorCode.NOT_COORDINATOR, f"broker {node}")
        kept = fetch_offsets(cluster.at(place.node), place.group, {topic: [0]})
        kept.expect_none(topic, where="the coordinator")


@judges("OFFS-013")
@at_versions("OffsetFetch", "1+")
def test_offset_fetch_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """All other brokers refuse to return the offset that was committed at the coordinator."""
    topic, place = cluster.create_topic(), new_group(cluster)
    coordinator = cluster.at(place.node)
    commit(coordinator, place.group, {topic: [entry(OFFSET)]})
    with requirement("OFFS-013") as check:
        told = fetch_offsets(coordinator, place.group, {topic: [0]}, api_version)
        told.expect(topic, OFFSET, where="the coordinator")
        for node in cluster.others(place.node):
            with check.subtest(f"broker {node}"):
                refused = fetch_offsets(cluster.at(node), place.group, {topic: [0]}, api_version)
                expect_error(refused.error_of(topic), ErrorCode.NOT_COORDINATOR, f"broker {node}")


@judges("TOPIC-034")
def test_deleted_topic_of_another_broker_than_coordinator_has_no_committed_offsets(
    cluster: Cluster,
) -> None:
    """The coordinator has a replica neither of that topic nor of another one, which stays."""
    place, version = new_group(cluster), cluster.front.version("OffsetFetch", "1-9")  # by name
    away, coordinator = cluster.others(place.node)[0], cluster.at(place.node)
    gone, stays = cluster.create_topic([[away]]), cluster.create_topic([[away]])
    commit(coordinator, place.group, {gone: [entry(OFFSET)], stays: [entry(OFFSET)]})
    delete_topic(cluster.at(cluster.controller()), gone)
    with requirement("TOPIC-034"):
        found = cluster.last_seen(
            lambda: fetch_offsets(coordinator, place.group, {gone: [0], stays: [0]}, version),
            lambda seen: seen.partitions[gone.name, 0].committed_offset == NO_OFFSET,
        )
        found.expect_none(gone, where="the deleted topic")
        found.expect(stays, OFFSET, where="the topic that stays")
