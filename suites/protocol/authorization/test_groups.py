"""AUTHZ: the rights of requests about groups and their members."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-030")
@at_versions("FindCoordinator", "0-3", "4+")
def test_the_coordinator_of_a_group_needs_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-030", broker, api_version)


@judges("AUTHZ-032")
@at_versions("JoinGroup")
def test_a_join_needs_read(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-032", broker, api_version)


@judges("AUTHZ-033")
@at_versions("SyncGroup")
def test_a_sync_needs_read(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-033", broker, api_version)


@judges("AUTHZ-034")
@at_versions("Heartbeat")
def test_a_heartbeat_needs_read(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-034", broker, api_version)


@judges("AUTHZ-035")
@at_versions("LeaveGroup", "0-2", "3+")
def test_a_leave_needs_read(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-035", broker, api_version)


@judges("AUTHZ-040")
@at_versions("DescribeGroups", "0-2", "3+")
def test_described_groups_need_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-040", broker, api_version)


@judges("AUTHZ-041")
@at_versions("ListGroups")
def test_the_list_of_groups_leaves_out_those_without_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-041", broker, api_version)


@judges("AUTHZ-042")
@at_versions("DeleteGroups")
def test_a_deleted_group_needs_delete(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-042", broker, api_version)


@judges("AUTHZ-043")
@at_versions("ConsumerGroupHeartbeat")
def test_a_heartbeat_of_the_newer_protocol_needs_read(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-043", broker, api_version)


@judges("AUTHZ-044")
@at_versions("ConsumerGroupHeartbeat")
def test_a_subscription_needs_describe_of_its_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-044", broker, api_version)


@judges("AUTHZ-045")
@at_versions("ConsumerGroupDescribe")
def test_described_groups_of_the_newer_protocol_need_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-045", broker, api_version)
