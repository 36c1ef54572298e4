"""OFFS: OffsetDelete, and what the deletion of a topic does to offsets."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    ask_to_delete_offsets,
    commit,
    deleted_codes,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics


def _two_partitions(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=2)


@judges("OFFS-020")
@at_versions("OffsetDelete")
def test_offset_delete_in_empty_group_deletes_only_named_offsets(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Those that are named, and no other; one that was never committed has no error.

    Of one topic one partition is named, of the other all: two with offsets and one without.
    """
    topic = kept.topic(broker, _two_partitions)
    other = broker.create_topic(partitions=3)
    group = fresh_group(broker, topic)
    entries = {topic: [entry(5), entry(7, "seven", 1)], other: [entry(9), entry(8, "", 2)]}
    commit(broker, group, entries)
    deleted = ((topic.name, 0), *((other.name, index) for index in range(3)))
    with requirement("OFFS-020") as check:
        codes = deleted_codes(ask_to_delete_offsets(broker, api_version, group, *deleted))
        expect_codes(codes, dict.fromkeys(deleted, ErrorCode.NONE))
        found = fetch_offsets(broker, group, {topic: [0, 1], other: [0, 1, 2]})
        found.expect_none(topic)
        for index in range(3):
            with check.subtest(f"partition {index} of the other topic"):
                found.expect_none(other, partition=index)
        found.expect(topic, 7, "seven", partition=1)


@judges("OFFS-021")
@at_versions("OffsetDelete")
def test_offset_delete_with_unknown_or_empty_group_id_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """GROUP_ID_NOT_FOUND for an unknown group, INVALID_GROUP_ID for an empty name."""
    topic = kept.topic(broker, _two_partitions)
    unknown = fresh_group(broker, topic)
    expected = {unknown: ErrorCode.GROUP_ID_NOT_FOUND, "": ErrorCode.INVALID_GROUP_ID}
    with requirement("OFFS-021") as check:
        for group, error in expected.items():
            with check.subtest("unknown group" if group else "empty group id"):
                answer = ask_to_delete_offsets(broker, api_version, group, (topic.name, 0))
                expect_error(answer.error_code, error, f"group {group!r}")
                assert not answer.topics, f"group {group!r}: topics are answered, too"


@judges("OFFS-021")
@at_versions("OffsetDelete")
def test_offset_delete_of_unknown_partition_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """UNKNOWN_TOPIC_OR_PARTITION for a partition and for a topic; what is known is deleted."""
    topic = kept.topic(broker, _two_partitions)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5)]})
    unknown = broker.unique_topic()
    expected = {
        (topic.name, 0): ErrorCode.NONE,
        (topic.name, 99): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        (unknown, 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    with requirement("OFFS-021"):
        expect_codes(
            deleted_codes(ask_to_delete_offsets(broker, api_version, group, *expected)), expected
        )
        fetch_offsets(broker, group, {topic: [0]}).expect_none(topic)
