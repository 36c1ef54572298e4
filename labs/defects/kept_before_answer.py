"""Defects of areas GRP and OFFS: answers of a coordinator that lost its log meanwhile."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetCommitResponse, SyncGroupResponse
from harness.codec.structs import Message
from labs.defects.changed_field import changed_field
from labs.defects.defect import Defect, joined_alone
from labs.defects.edited_answer import answers


def _acknowledged(
    requirement: str, name: str, meaning: str, message: type[Message], field: str
) -> Defect:
    reason = r"the coordinator has changed: error is NONE"
    made = changed_field(requirement, name, reason, meaning, message, field,
                         ErrorCode.NOT_COORDINATOR, ErrorCode.NONE)  # fmt: skip
    return joined_alone(made)


@answers("GRP-085", r"the follower does not fetch: error is NONE")
def late_assignments_are_acknowledged(message: SyncGroupResponse) -> None:
    """SyncGroup succeeds although a replica in sync does not have the assignment in time."""
    if message.error_code in {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.REBALANCE_IN_PROGRESS,
    }:
        message.error_code, message.assignment = ErrorCode.NONE, b"late"


@answers("GRP-086", r"one of two replicas is in sync: error is NONE")
def assignments_need_no_replicas(message: SyncGroupResponse) -> None:
    """SyncGroup succeeds although too few replicas are in sync for the assignment."""
    if message.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
        message.error_code = ErrorCode.NONE


DEFECTS = [
    joined_alone(assignments_need_no_replicas),
    joined_alone(late_assignments_are_acknowledged),
    _acknowledged("GRP-084", "a_lost_assignment_is_acknowledged",
        "SyncGroup succeeds although another broker became coordinator meanwhile.",
        SyncGroupResponse, "error_code"),
    _acknowledged("OFFS-036", "a_lost_commit_is_acknowledged",
        "OffsetCommit succeeds although another broker became coordinator meanwhile.",
        OffsetCommitResponse, "topics.partitions.error_code"),
]  # fmt: skip
