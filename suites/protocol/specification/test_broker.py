"""SPEC: responses about the broker itself, in seeded conversations."""

from __future__ import annotations

from harness.runner.marks import judges
from harness.runner.specification import SpecificationJudge


@judges("SPEC-033")
def test_api_versions_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ApiVersions")


@judges("SPEC-034")
def test_sasl_handshake_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("SaslHandshake")


@judges("SPEC-035")
def test_describe_cluster_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeCluster")


@judges("SPEC-036")
def test_describe_client_quotas_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeClientQuotas")


@judges("SPEC-037")
def test_alter_client_quotas_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("AlterClientQuotas")
