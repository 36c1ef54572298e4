"""AUTHZ: the rights of requests of producers and transactions."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.permissions.judging import judge_row
from suites.protocol.support.unstable_versions import UNSTABLE, unstable_version

TWO_PHASES = {**UNSTABLE, "transaction.two.phase.commit.enable": "true"}


@judges("AUTHZ-031")
@at_versions("FindCoordinator", "1-3", "4+")
def test_the_coordinator_of_a_transactional_id_needs_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-031", broker, api_version)


@judges("AUTHZ-046")
@at_versions("InitProducerId")
def test_a_producer_id_needs_a_write(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-046", broker, api_version)


@judges("AUTHZ-047")
@at_versions("InitProducerId")
def test_a_transactional_producer_id_needs_write(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-047", broker, api_version)


@judges("AUTHZ-089")
@needs_broker(Use.TUNED, TWO_PHASES)
def test_two_phase_commit_needs_a_right_of_its_own(broker: BrokerUnderTest) -> None:
    judge_row("AUTHZ-089", broker, unstable_version(broker, "InitProducerId", "6+"))


@judges("AUTHZ-048")
@at_versions("AddPartitionsToTxn", "0-3", "4+")
def test_added_partitions_need_write(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-048", broker, api_version)


@judges("AUTHZ-049")
@at_versions("AddOffsetsToTxn")
def test_added_offsets_need_write_and_read_of_the_group(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-049", broker, api_version)


@judges("AUTHZ-050")
@at_versions("TxnOffsetCommit")
def test_a_transactional_commit_needs_three_rights(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-050", broker, api_version)


@judges("AUTHZ-051")
@at_versions("EndTxn")
def test_the_end_of_a_transaction_needs_write(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-051", broker, api_version)


@judges("AUTHZ-052")
@at_versions("DescribeTransactions")
def test_described_transactions_need_describe_and_hide_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-052", broker, api_version)


@judges("AUTHZ-053")
@at_versions("ListTransactions")
def test_the_list_of_transactions_leaves_out_those_without_describe(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-053", broker, api_version)


@judges("AUTHZ-054")
@at_versions("WriteTxnMarkers", "1+")
def test_transaction_markers_need_cluster_action(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-054", broker, api_version)


@judges("AUTHZ-055")
@at_versions("WriteTxnMarkers", "1+")
def test_transaction_markers_are_taken_with_alter_of_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-055", broker, api_version)
