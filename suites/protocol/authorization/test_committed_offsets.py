"""AUTHZ: the rights of requests about committed offsets."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-036")
@at_versions("OffsetCommit", "1+")
def test_a_commit_needs_read_of_group_and_topic(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-036", broker, api_version)


@judges("AUTHZ-037")
@at_versions("OffsetFetch", "1", "2-7", "8+")
def test_fetched_offsets_need_describe_of_group_and_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-037", broker, api_version)


@judges("AUTHZ-038")
@at_versions("OffsetFetch", "2-7", "8-9", "10+")
def test_all_offsets_of_a_group_leave_out_topics_without_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-038", broker, api_version)


@judges("AUTHZ-039")
@at_versions("OffsetDelete")
def test_deleted_offsets_need_delete_of_the_group_and_read_of_the_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-039", broker, api_version)
