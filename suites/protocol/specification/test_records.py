"""SPEC: responses about records and producers, in seeded conversations."""

from __future__ import annotations

from harness.runner.marks import judges
from harness.runner.specification import SpecificationJudge


@judges("SPEC-001")
def test_produce_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("Produce")


@judges("SPEC-002")
def test_fetch_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("Fetch")


@judges("SPEC-003")
def test_list_offsets_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ListOffsets")


@judges("SPEC-004")
def test_delete_records_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DeleteRecords")


@judges("SPEC-005")
def test_init_producer_id_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("InitProducerId")


@judges("SPEC-006")
def test_offset_for_leader_epoch_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("OffsetForLeaderEpoch")


@judges("SPEC-007")
def test_describe_producers_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeProducers")
