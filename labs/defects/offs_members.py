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
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import answers, edited, rule

NO_GENERATION = -1
SINCE_GROUP_ID_NOT_FOUND = range(9, 99)  # before, an unknown group has the same error


def _forgive(message: Message, *errors: ErrorCode) -> None:
    assert isinstance(message, OffsetCommitResponse)
    for topic in message.topics:
        for result in topic.partitions:
            if result.error_code in errors:
                result.error_code = ErrorCode.NONE


@answers("OFFS-005", r"is not listed", "ListGroups")
def a_simple_group_is_not_listed(_: SeenRequest, message: Message) -> None:
    """ListGroups leaves out a group without members."""
    assert isinstance(message, ListGroupsResponse)
    message.groups = [group for group in message.groups if group.protocol_type]


@answers("OFFS-006", r"nobody's commit: NONE \(0\) is neither", "OffsetCommit")
def nobody_commits_beside_members(seen: SeenRequest, message: Message) -> None:
    """The broker accepts a commit without a generation while the group has members."""
    assert isinstance(seen.message, OffsetCommitRequest)
    if seen.message.generation_id_or_member_epoch == NO_GENERATION:
        _forgive(message, ErrorCode.UNKNOWN_MEMBER_ID)


@answers(
    "OFFS-007", r"generation \d of \d, .*error is NONE", "OffsetCommit", SINCE_GROUP_ID_NOT_FOUND
)
def any_generation_commits(_: SeenRequest, message: Message) -> None:
    """The broker accepts a member's commit at any generation."""
    _forgive(message, ErrorCode.ILLEGAL_GENERATION)


@answers("OFFS-009", r"after the join, .*error is NONE", "OffsetCommit")
def a_commit_is_taken_before_the_sync(_: SeenRequest, message: Message) -> None:
    """The broker accepts a member's commit between its join and the assignment."""
    _forgive(message, ErrorCode.REBALANCE_IN_PROGRESS)


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


def _refuse(_: SeenRequest, message: Message) -> None:
    assert isinstance(message, OffsetCommitResponse)
    for topic in message.topics:
        for result in topic.partitions:
            result.error_code = ErrorCode.REBALANCE_IN_PROGRESS


DEFECTS = [
    a_simple_group_is_not_listed,
    nobody_commits_beside_members,
    any_generation_commits,
    a_commit_is_taken_before_the_sync,
    rule(
        "OFFS-010",
        r"while another one joins, .*error is REBALANCE_IN_PROGRESS",
        NobodyCommitsWhileOneJoins,
    ),
]
