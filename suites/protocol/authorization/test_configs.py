"""AUTHZ: the rights of requests about configs, quotas and users."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-021")
@at_versions("DescribeConfigs")
def test_described_topic_configs_need_describe_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-021", broker, api_version)


@judges("AUTHZ-022")
@at_versions("DescribeConfigs")
def test_described_broker_configs_need_describe_configs_of_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-022", broker, api_version)


@judges("AUTHZ-023")
@at_versions("DescribeConfigs", "1+")
def test_described_group_configs_need_describe_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-023", broker, api_version)


@judges("AUTHZ-024")
@at_versions("IncrementalAlterConfigs")
def test_changed_topic_configs_need_alter_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-024", broker, api_version)


@judges("AUTHZ-025")
@at_versions("IncrementalAlterConfigs")
def test_changed_broker_configs_need_alter_configs_of_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-025", broker, api_version)


@judges("AUTHZ-026")
@at_versions("IncrementalAlterConfigs")
def test_changed_group_configs_need_alter_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-026", broker, api_version)


@judges("AUTHZ-027")
@at_versions("AlterConfigs")
def test_replaced_topic_configs_need_alter_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-027", broker, api_version)


@judges("AUTHZ-028")
@at_versions("AlterConfigs")
def test_replaced_broker_configs_need_alter_configs_of_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-028", broker, api_version)


@judges("AUTHZ-029")
@at_versions("ListConfigResources")
def test_the_list_of_config_resources_needs_describe_configs(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-029", broker, api_version)


@judges("AUTHZ-065")
@at_versions("DescribeClientQuotas")
def test_described_quotas_need_describe_configs(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-065", broker, api_version)


@judges("AUTHZ-066")
@at_versions("AlterClientQuotas")
def test_changed_quotas_need_alter_configs(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-066", broker, api_version)


@judges("AUTHZ-067")
@at_versions("DescribeUserScramCredentials")
def test_described_users_need_describe_of_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-067", broker, api_version)


@judges("AUTHZ-068")
@at_versions("AlterUserScramCredentials")
def test_changed_users_need_alter_of_the_cluster(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-068", broker, api_version)
