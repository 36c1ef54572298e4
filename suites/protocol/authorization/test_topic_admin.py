"""AUTHZ: the rights of requests that create, grow and delete topics."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-017")
@at_versions("CreateTopics", "0-4", "5+")
def test_a_new_topic_needs_create(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-017", broker, api_version)


@judges("AUTHZ-018")
@at_versions("DeleteTopics")
def test_a_topic_deleted_by_name_needs_delete(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-018", broker, api_version)


@judges("AUTHZ-019")
@at_versions("DeleteTopics", "6+")
def test_a_topic_deleted_by_id_needs_delete(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-019", broker, api_version)


@judges("AUTHZ-020")
@at_versions("CreatePartitions")
def test_more_partitions_need_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-020", broker, api_version)
