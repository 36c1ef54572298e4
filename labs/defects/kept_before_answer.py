"""Defects of areas GRP and OFFS: answers of a coordinator that lost its log meanwhile."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetCommitResponse, SyncGroupResponse
from harness.codec.structs import Message
from labs.defects.changed_field import changed_field
from labs.defects.defect import Defect, joined_alone


def _acknowledged(
    requirement: str, name: str, meaning: str, message: type[Message], field: str
) -> Defect:
    reason = r"the coordinator has changed: error is NONE"
    made = changed_field(requirement, name, reason, meaning, message, field,
                         ErrorCode.NOT_COORDINATOR, ErrorCode.NONE)  # fmt: skip
    return joined_alone(made)


DEFECTS = [
    _acknowledged("GRP-084", "a_lost_assignment_is_acknowledged",
        "SyncGroup succeeds although another broker became coordinator meanwhile.",
        SyncGroupResponse, "error_code"),
    _acknowledged("OFFS-036", "a_lost_commit_is_acknowledged",
        "OffsetCommit succeeds although another broker became coordinator meanwhile.",
        OffsetCommitResponse, "topics.partitions.error_code"),
]  # fmt: skip
