"""Defects of area OFFS: commits by members and others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    JoinGroupRequest,
    ListGroupsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.grp_members import KnowsWhatWasLeft

NO_GENERATION = -1
SINCE_GROUP_ID_NOT_FOUND = range(9, 99)  # before, an unknown group has the same error


@answers("OFFS-005", r"is not listed")
def a_simple_group_is_not_listed(answer: ListGroupsResponse) -> None:
    """ListGroups leaves out a group without members."""
    answer.groups = [group for group in answer.groups if group.protocol_type]


class NobodyCommitsWhileOneJoins(FrameRule):
    """The broker refuses the commits of other members while one joins."""

    def __init__(self) -> None:
        self.joining: Counter[str] = Counter()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, JoinGroupRequest):
            self.joining[seen.message.group_id] += 1
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, JoinGroupRequest):
            self.joining[request.group_id] -= 1
        if not isinstance(request, OffsetCommitRequest) or not self.joining[request.group_id]:
            return [payload]
        return [edited(seen, payload, _refuse)]


class EmptiedGroupsTakeNoCommit(KnowsWhatWasLeft):
    """The broker accepts commits without a member only for a group that never had one."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, OffsetCommitRequest):
            return super().on_response(seen, payload)
        has_member = request.generation_id_or_member_epoch != NO_GENERATION
        if has_member or request.group_id not in self.left:
            return [payload]
        return [edited(seen, payload, _do_not_know)]


def _do_not_know(_: SeenRequest, message: OffsetCommitResponse) -> None:
    for topic in message.topics:
        for result in topic.partitions:
            result.error_code = ErrorCode.UNKNOWN_MEMBER_ID


def _refuse(_: SeenRequest, message: OffsetCommitResponse) -> None:
    for topic in message.topics:
        for result in topic.partitions:
            result.error_code = ErrorCode.REBALANCE_IN_PROGRESS


DEFECTS = [
    a_simple_group_is_not_listed,
    rule(
        "OFFS-005",
        r"after the last member left, .*error is UNKNOWN_MEMBER_ID",
        EmptiedGroupsTakeNoCommit,
    ),
    changed_field("OFFS-006", "nobody_commits_beside_members",
        r"commit without a member: NONE \(0\) is neither",
        "The broker accepts a commit without a generation while the group has members.",
        OffsetCommitResponse, "topics.partitions.error_code",
        ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE,
        requested={"generation_id_or_member_epoch": NO_GENERATION}),
    changed_field("OFFS-007", "any_generation_commits", r"generation \d of \d, .*error is NONE",
        "The broker accepts a member's commit at any generation.",
        OffsetCommitResponse, "topics.partitions.error_code",
        ErrorCode.ILLEGAL_GENERATION, ErrorCode.NONE, SINCE_GROUP_ID_NOT_FOUND),
    changed_field("OFFS-009", "a_commit_is_taken_before_the_sync",
        r"after the join, .*error is NONE",
        "The broker accepts a member's commit between its join and the assignment.",
        OffsetCommitResponse, "topics.partitions.error_code",
        ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.NONE),
    rule(
        "OFFS-010",
        r"while another one joins, .*error is REBALANCE_IN_PROGRESS",
        NobodyCommitsWhileOneJoins,
    ),
]  # fmt: skip
