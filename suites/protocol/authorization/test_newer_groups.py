"""AUTHZ: the rights of requests about share and streams groups."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-073")
@at_versions("ShareGroupHeartbeat", "1+")
def test_a_heartbeat_of_a_share_group_needs_read_and_describe_of_its_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-073", broker, api_version)


@judges("AUTHZ-074")
@at_versions("ShareGroupDescribe", "1+")
def test_described_share_groups_need_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-074", broker, api_version)


@judges("AUTHZ-075")
@at_versions("ShareFetch", "1+")
def test_a_fetch_of_a_share_group_needs_read_of_group_and_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-075", broker, api_version)


@judges("AUTHZ-076")
@at_versions("ShareAcknowledge", "1+")
def test_an_acknowledgement_needs_read_of_the_group(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-076", broker, api_version)


@judges("AUTHZ-077")
@at_versions("DescribeShareGroupOffsets")
def test_described_offsets_of_a_share_group_need_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-077", broker, api_version)


@judges("AUTHZ-078")
@at_versions("AlterShareGroupOffsets")
def test_changed_offsets_of_a_share_group_need_read(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-078", broker, api_version)


@judges("AUTHZ-079")
@at_versions("DeleteShareGroupOffsets")
def test_deleted_offsets_of_a_share_group_need_delete_and_read(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-079", broker, api_version)


@judges("AUTHZ-080")
@at_versions("StreamsGroupHeartbeat")
def test_a_heartbeat_of_a_streams_group_needs_read(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-080", broker, api_version)


@judges("AUTHZ-081")
@at_versions("StreamsGroupDescribe")
def test_described_streams_groups_need_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-081", broker, api_version)
