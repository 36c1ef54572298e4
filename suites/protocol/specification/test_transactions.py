"""SPEC: responses about transactions, in seeded conversations."""

from __future__ import annotations

from harness.runner.marks import judges
from harness.runner.specification import SpecificationJudge


@judges("SPEC-039")
def test_add_partitions_to_txn_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("AddPartitionsToTxn")


@judges("SPEC-040")
def test_add_offsets_to_txn_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("AddOffsetsToTxn")


@judges("SPEC-041")
def test_txn_offset_commit_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("TxnOffsetCommit")


@judges("SPEC-042")
def test_end_txn_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("EndTxn")


@judges("SPEC-043")
def test_write_txn_markers_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("WriteTxnMarkers")


@judges("SPEC-044")
def test_describe_transactions_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeTransactions")


@judges("SPEC-045")
def test_list_transactions_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ListTransactions")
