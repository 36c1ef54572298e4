"""SPEC: responses about groups and offsets, in seeded conversations."""

from __future__ import annotations

from harness.runner.marks import judges
from harness.runner.specification import SpecificationJudge


@judges("SPEC-008")
def test_join_group_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("JoinGroup")


@judges("SPEC-009")
def test_sync_group_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("SyncGroup")


@judges("SPEC-010")
def test_heartbeat_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("Heartbeat")


@judges("SPEC-011")
def test_leave_group_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("LeaveGroup")


@judges("SPEC-012")
def test_describe_groups_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DescribeGroups")


@judges("SPEC-013")
def test_list_groups_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("ListGroups")


@judges("SPEC-014")
def test_offset_commit_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("OffsetCommit")


@judges("SPEC-015")
def test_offset_fetch_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("OffsetFetch")


@judges("SPEC-016")
def test_offset_delete_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("OffsetDelete")


@judges("SPEC-017")
def test_delete_groups_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("DeleteGroups")


@judges("SPEC-018")
def test_find_coordinator_responds_as_specification(judge: SpecificationJudge) -> None:
    judge.conversations("FindCoordinator")
