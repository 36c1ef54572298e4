"""OFFS: offsets of topics that are named by their ids (KIP-848), and of those that were deleted."""

from __future__ import annotations

from uuid import uuid4

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    ask_to_commit,
    commit,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.gone_topics import create_again, delete_topic
from suites.protocol.support.held_groups import held_group
from suites.protocol.support.kept_topics import KeptTopics


def _one_partition(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


@judges("OFFS-023")
@at_versions("OffsetCommit", "10+")
def test_offset_commit_with_unknown_topic_id_returns_unknown_topic_id(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """UNKNOWN_TOPIC_ID, and what is committed beside it is stored."""
    topic = kept.topic(broker, _one_partition)
    unknown = Topic("unknown", uuid4())
    group = held_group(broker, topic)
    with requirement("OFFS-023"):
        entries = {unknown: [entry(5)], topic: [entry(7)]}
        expected = {
            (unknown.name, 0): ErrorCode.UNKNOWN_TOPIC_ID,
            (topic.name, 0): ErrorCode.NONE,
        }
        expect_codes(ask_to_commit(broker, group, entries, api_version), expected)
        fetch_offsets(broker, group, {topic: [0]}).expect(topic, 7)


@judges("OFFS-023")
@at_versions("OffsetFetch", "10+")
def test_offset_fetch_with_unknown_topic_id_returns_unknown_topic_id(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """UNKNOWN_TOPIC_ID for its partition, the offset of the one beside it."""
    topic = kept.topic(broker, _one_partition)
    unknown = Topic("unknown", uuid4())
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(7)]})
    with requirement("OFFS-023"):
        found = fetch_offsets(broker, group, {unknown: [0], topic: [0]}, api_version)
        expect_error(found.error_of(unknown), ErrorCode.UNKNOWN_TOPIC_ID, "unknown id")
        found.expect(topic, 7)


@judges("OFFS-023")
@at_versions("OffsetFetch", "10+")
def test_recreated_topic_does_not_inherit_committed_offsets(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The id of the deleted topic is unknown, also to a commit; the new one has no offset."""
    old = broker.create_topic()
    group = fresh_group(broker, old)
    commit(broker, group, {old: [entry(7)]})
    delete_topic(broker, old)
    new = create_again(broker, old.name)
    commits = broker.version("OffsetCommit", "10+")
    with requirement("OFFS-023"):
        gone = Topic("old", old.id)
        codes = ask_to_commit(broker, group, {gone: [entry(9)]}, commits)
        expect_codes(codes, {(gone.name, 0): ErrorCode.UNKNOWN_TOPIC_ID}, "the old id")
        found = fetch_offsets(broker, group, {gone: [0], new: [0]}, api_version)
        expect_error(found.error_of(gone), ErrorCode.UNKNOWN_TOPIC_ID, "the old id")
        found.expect_none(new, where="the new topic")
