"""SPEC: responses about topics, configs and replicas, in seeded conversations."""

from __future__ import annotations

from harness.runner.marks import judges
from harness.runner.specification import SpecificationJudge


@judges("SPEC-019")
def test_create_topics_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("CreateTopics")


@judges("SPEC-020")
def test_delete_topics_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DeleteTopics")


@judges("SPEC-021")
def test_create_partitions_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("CreatePartitions")


@judges("SPEC-022")
def test_metadata_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("Metadata")


@judges("SPEC-023")
def test_describe_topic_partitions_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeTopicPartitions")


@judges("SPEC-024")
def test_describe_configs_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeConfigs")


@judges("SPEC-025")
def test_alter_configs_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("AlterConfigs")


@judges("SPEC-026")
def test_incremental_alter_configs_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("IncrementalAlterConfigs")


@judges("SPEC-027")
def test_list_config_resources_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ListConfigResources")


@judges("SPEC-028")
def test_alter_partition_reassignments_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("AlterPartitionReassignments")


@judges("SPEC-029")
def test_list_partition_reassignments_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ListPartitionReassignments")


@judges("SPEC-030")
def test_elect_leaders_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ElectLeaders")


@judges("SPEC-031")
def test_describe_log_dirs_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeLogDirs")


@judges("SPEC-032")
def test_alter_replica_log_dirs_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("AlterReplicaLogDirs")
