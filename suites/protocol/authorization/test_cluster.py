"""AUTHZ: the rights of requests about the cluster, its ACLs, nodes and replicas."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-006")
@at_versions("Metadata", "8-10")
def test_metadata_returns_the_operations_that_a_user_has_on_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-006", broker, api_version)


@judges("AUTHZ-059")
@at_versions("DescribeCluster")
def test_a_described_cluster_needs_no_right(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-059", broker, api_version)


@judges("AUTHZ-056")
@at_versions("DescribeAcls")
def test_described_acls_need_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-056", broker, api_version)


@judges("AUTHZ-057")
@at_versions("CreateAcls")
def test_new_acls_need_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-057", broker, api_version)


@judges("AUTHZ-058")
@at_versions("DeleteAcls")
def test_deleted_acls_need_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-058", broker, api_version)


@judges("AUTHZ-060")
@at_versions("AlterPartitionReassignments")
def test_a_reassignment_needs_alter_of_the_cluster(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-060", broker, api_version)


@judges("AUTHZ-061")
@at_versions("ListPartitionReassignments")
def test_listed_reassignments_need_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-061", broker, api_version)


@judges("AUTHZ-062")
@at_versions("ElectLeaders", "0", "1+")
def test_an_election_needs_alter_of_the_cluster(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-062", broker, api_version)


@judges("AUTHZ-063")
@at_versions("DescribeLogDirs", "0-2", "3+")
def test_described_log_directories_need_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-063", broker, api_version)


@judges("AUTHZ-064")
@at_versions("AlterReplicaLogDirs")
def test_a_move_between_log_directories_needs_alter(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-064", broker, api_version)


@judges("AUTHZ-069")
@at_versions("UpdateFeatures")
def test_updated_features_need_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-069", broker, api_version)


@judges("AUTHZ-070")
@at_versions("DescribeQuorum")
def test_a_described_quorum_needs_describe(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-070", broker, api_version)


@judges("AUTHZ-071")
@at_versions("UnregisterBroker")
def test_an_unregistered_broker_needs_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-071", broker, api_version)


@judges("AUTHZ-072")
@at_versions("ApiVersions")
def test_api_versions_need_no_right(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-072", broker, api_version)


@judges("AUTHZ-082")
@at_versions("AddRaftVoter")
def test_a_new_voter_needs_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-082", broker, api_version)


@judges("AUTHZ-083")
@at_versions("RemoveRaftVoter")
def test_a_removed_voter_needs_alter(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-083", broker, api_version)
