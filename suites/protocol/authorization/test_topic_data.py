"""AUTHZ: the rights of requests for topics, records and offsets of a log."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-001")
@at_versions("Metadata")
def test_metadata_of_a_named_topic_needs_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-001", broker, api_version)


@judges("AUTHZ-002")
@at_versions("Metadata", "12+")
def test_metadata_of_a_topic_id_hides_the_name_without_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-002", broker, api_version)


@judges("AUTHZ-003")
@at_versions("Metadata")
def test_metadata_of_all_topics_leaves_out_those_without_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-003", broker, api_version)


@judges("AUTHZ-004")
@at_versions("Metadata", "4+")
def test_metadata_creates_a_topic_with_describe_and_create(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-004", broker, api_version)


@judges("AUTHZ-005")
@at_versions("Metadata", "8+")
def test_metadata_returns_the_operations_that_a_user_has_on_a_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-005", broker, api_version)


@judges("AUTHZ-007")
@at_versions("DescribeTopicPartitions")
def test_described_topic_partitions_need_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-007", broker, api_version)


@judges("AUTHZ-008")
@at_versions("DescribeTopicPartitions")
def test_all_described_topics_leave_out_those_without_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-008", broker, api_version)


@judges("AUTHZ-009")
@at_versions("Produce")
def test_produce_needs_write(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-009", broker, api_version)


@judges("AUTHZ-010")
@at_versions("Produce", "3+")
def test_produce_of_a_transaction_needs_write_of_the_transactional_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-010", broker, api_version)


@judges("AUTHZ-011")
@at_versions("Fetch")
def test_fetch_needs_read(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-011", broker, api_version)


@judges("AUTHZ-012")
@at_versions("Fetch")
def test_fetch_of_a_replica_needs_cluster_action(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-012", broker, api_version)


@judges("AUTHZ-013")
@at_versions("ListOffsets")
def test_list_offsets_needs_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-013", broker, api_version)


@judges("AUTHZ-014")
@at_versions("OffsetForLeaderEpoch")
def test_an_epochs_end_needs_describe_or_cluster_action(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-014", broker, api_version)


@judges("AUTHZ-015")
@at_versions("DeleteRecords")
def test_deleted_records_need_delete(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-015", broker, api_version)


@judges("AUTHZ-016")
@at_versions("DescribeProducers")
def test_described_producers_need_read(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-016", broker, api_version)
