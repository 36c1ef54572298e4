"""Defects of area GRP: syncs, heartbeats, leaving."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers

# Tests prepare themselves at the highest version of each API; defects strike the lower ones.
OLD_HEARTBEATS, OLD_SYNCS = range(4), range(5)
TWICE_NAMED = 4  # members of the test of GRP-074


@answers("GRP-016", r"the part is ", OLD_SYNCS)
def parts_are_text(answer: SyncGroupResponse) -> None:
    """The broker keeps an assignment that is not a consumer's as text, and loses some bytes."""
    part = bytes(answer.assignment)
    if not part.startswith(bytes(2)):  # version 0 of a consumer's
        answer.assignment = part.decode(errors="replace").encode()


@answers("GRP-019", r"protocol_(type|name) is None: error is NONE", range(5, 99))
def no_protocol_fits_all(request: SyncGroupRequest, answer: SyncGroupResponse) -> None:
    """SyncGroup v5 accepts a member that names no type or no protocol."""
    if request.protocol_type is None or request.protocol_name is None:
        answer.error_code = ErrorCode.NONE


class KnowsWhatWasLeft(FrameRule):
    """Remember the groups that a member has left by its member id."""

    def __init__(self) -> None:
        self.left: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, LeaveGroupRequest):
            edited(seen, payload, self._note)
        return [payload]

    def _note(self, seen: SeenRequest, message: Message) -> None:
        request, answer = _leaving(seen, message)
        by_instance = any(each.group_instance_id for each in request.members)
        codes = [answer.error_code, *(each.error_code for each in answer.members)]
        if not any(codes) and not by_instance:
            self.left.add(request.group_id)


def _is_made_up(seen: SeenRequest) -> bool:
    """True for the made-up member of a test of the join phase."""
    return isinstance(seen.message, SyncGroupRequest) and seen.message.member_id == "made-up"


class WhoLeavesIsNotMissed(KnowsWhatWasLeft):
    """The broker does not answer REBALANCE_IN_PROGRESS after a member has left."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, HeartbeatRequest) and request.group_id in self.left:
            return [edited(seen, payload, self._say_nothing)]
        return super().on_response(seen, payload)

    def _say_nothing(self, _seen: SeenRequest, message: HeartbeatResponse) -> None:
        if message.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            message.error_code = ErrorCode.NONE


def _leaving(seen: SeenRequest, message: Message) -> tuple[LeaveGroupRequest, LeaveGroupResponse]:
    assert isinstance(seen.message, LeaveGroupRequest)
    assert isinstance(message, LeaveGroupResponse)
    return seen.message, message


@answers("GRP-024", r"at the top: error is UNKNOWN_MEMBER_ID", range(3, 99))
def the_only_error_stands_at_the_top(
    request: LeaveGroupRequest, answer: LeaveGroupResponse
) -> None:
    """LeaveGroup returns the error of its only member as that of the request."""
    if len(request.members) == 1 and answer.members:
        answer.error_code = answer.members[0].error_code


@answers("GRP-025", r"leaver instance-0: error is UNKNOWN_MEMBER_ID", range(3, 99))
def instances_do_not_leave(request: LeaveGroupRequest, answer: LeaveGroupResponse) -> None:
    """LeaveGroup for several members removes only those that it names by member id."""
    if len(request.members) > 1:
        for each in answer.members:
            if not each.member_id:
                each.error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-074", r"named twice the errors are .*'NONE \(0\)'\]", range(3, 99))
def who_leaves_may_leave_again(request: LeaveGroupRequest, answer: LeaveGroupResponse) -> None:
    """LeaveGroup checks all its members before it removes the first."""
    half = len(request.members) // 2
    if half == TWICE_NAMED:
        for each in answer.members[half:]:
            each.error_code = ErrorCode.NONE


DEFECTS = [
    changed_field("GRP-018", "joins_come_before_members",
        r"member_id made-up while members join: error is REBALANCE_IN_PROGRESS",
        "SyncGroup returns REBALANCE_IN_PROGRESS to every client during a join phase.",
        SyncGroupResponse, "error_code",
        ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.REBALANCE_IN_PROGRESS, asked=_is_made_up),
    who_leaves_may_leave_again,
    changed_field("GRP-011", "nobody_hears_of_a_rebalance", r"says REBALANCE_IN_PROGRESS",
        "The broker accepts heartbeats during a rebalance.",
        HeartbeatResponse, "error_code",
        ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.NONE, OLD_HEARTBEATS),
    changed_field("GRP-021", "heartbeats_have_no_generation", r"generation_id .*: error is NONE",
        "The broker accepts heartbeats of any generation.",
        HeartbeatResponse, "error_code",
        ErrorCode.ILLEGAL_GENERATION, ErrorCode.NONE, OLD_HEARTBEATS),
    parts_are_text,
    changed_field("GRP-017", "who_is_left_out_has_a_part", r"the part is b'.x00",
        "The broker makes up an assignment for a member that the leader left out.",
        SyncGroupResponse, "assignment", b"", bytes(10), where={"error_code": ErrorCode.NONE}),
    changed_field("GRP-018", "members_of_other_generations_are_unknown",
        r"generation \d+: error is UNKNOWN_MEMBER_ID",
        "The broker looks for a member in the current generation only.",
        SyncGroupResponse, "error_code", ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID),
    no_protocol_fits_all,
    rule("GRP-023", r"says REBALANCE_IN_PROGRESS", WhoLeavesIsNotMissed),
    the_only_error_stands_at_the_top,
    changed_field("GRP-078", "no_name_is_that_of_an_unknown_group",
        r'v\d of group "": error is UNKNOWN_MEMBER_ID',
        "The broker looks for the group with the empty name like for any other.",
        HeartbeatResponse, "error_code",
        ErrorCode.INVALID_GROUP_ID, ErrorCode.UNKNOWN_MEMBER_ID, requested={"group_id": ""}),
    instances_do_not_leave,
]  # fmt: skip
