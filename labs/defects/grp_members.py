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
from labs.defects.defect import answers, edited, rule

# Tests prepare themselves at the highest version of each API; defects strike the lower ones.
OLD_HEARTBEATS, OLD_SYNCS = range(4), range(5)


@answers("GRP-011", r"says REBALANCE_IN_PROGRESS", "Heartbeat", OLD_HEARTBEATS)
def nobody_hears_of_a_rebalance(_seen: SeenRequest, message: Message) -> None:
    """The broker accepts heartbeats during a rebalance."""
    assert isinstance(message, HeartbeatResponse)
    if message.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
        message.error_code = ErrorCode.NONE


@answers("GRP-021", r"generation_id .*: error is NONE", "Heartbeat", OLD_HEARTBEATS)
def heartbeats_have_no_generation(_seen: SeenRequest, message: Message) -> None:
    """The broker accepts heartbeats of any generation."""
    assert isinstance(message, HeartbeatResponse)
    if message.error_code == ErrorCode.ILLEGAL_GENERATION:
        message.error_code = ErrorCode.NONE


@answers("GRP-016", r"the part is ", "SyncGroup", OLD_SYNCS)
def parts_are_text(_seen: SeenRequest, message: Message) -> None:
    """The broker keeps an assignment that is not a consumer's as text, and loses some bytes."""
    assert isinstance(message, SyncGroupResponse)
    part = bytes(message.assignment)
    if not part.startswith(bytes(2)):  # version 0 of a consumer's
        message.assignment = part.decode(errors="replace").encode()


@answers("GRP-017", r"the part is b'.x00", "SyncGroup")
def who_is_left_out_has_a_part(_seen: SeenRequest, message: Message) -> None:
    """The broker makes up an assignment for a member that the leader left out."""
    assert isinstance(message, SyncGroupResponse)
    if message.error_code == ErrorCode.NONE and not message.assignment:
        message.assignment = bytes(10)


@answers("GRP-018", r"generation \d+: error is UNKNOWN_MEMBER_ID", "SyncGroup")
def members_of_other_generations_are_unknown(_seen: SeenRequest, message: Message) -> None:
    """The broker looks for a member in the current generation only."""
    assert isinstance(message, SyncGroupResponse)
    if message.error_code == ErrorCode.ILLEGAL_GENERATION:
        message.error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-019", r"protocol_(type|name) is None: error is NONE", "SyncGroup", range(5, 99))
def no_protocol_fits_all(seen: SeenRequest, message: Message) -> None:
    """SyncGroup v5 accepts a member that names no type or no protocol."""
    request = seen.message
    assert isinstance(request, SyncGroupRequest)
    assert isinstance(message, SyncGroupResponse)
    if request.protocol_type is None or request.protocol_name is None:
        message.error_code = ErrorCode.NONE


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


class WhoLeavesIsNotMissed(KnowsWhatWasLeft):
    """The broker does not answer REBALANCE_IN_PROGRESS after a member has left."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, HeartbeatRequest) and request.group_id in self.left:
            return [edited(seen, payload, self._say_nothing)]
        return super().on_response(seen, payload)

    def _say_nothing(self, _seen: SeenRequest, message: Message) -> None:
        assert isinstance(message, HeartbeatResponse)
        if message.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            message.error_code = ErrorCode.NONE


def _leaving(seen: SeenRequest, message: Message) -> tuple[LeaveGroupRequest, LeaveGroupResponse]:
    assert isinstance(seen.message, LeaveGroupRequest)
    assert isinstance(message, LeaveGroupResponse)
    return seen.message, message


@answers("GRP-024", r"at the top: error is UNKNOWN_MEMBER_ID", "LeaveGroup", range(3, 99))
def the_only_error_stands_at_the_top(seen: SeenRequest, message: Message) -> None:
    """LeaveGroup returns the error of its only member as that of the request."""
    request, answer = _leaving(seen, message)
    if len(request.members) == 1 and answer.members:
        answer.error_code = answer.members[0].error_code


@answers("GRP-025", r"leaver instance-0: error is UNKNOWN_MEMBER_ID", "LeaveGroup", range(3, 99))
def instances_do_not_leave(seen: SeenRequest, message: Message) -> None:
    """LeaveGroup for several members removes only those that it names by member id."""
    request, answer = _leaving(seen, message)
    if len(request.members) > 1:
        for each in answer.members:
            if not each.member_id:
                each.error_code = ErrorCode.UNKNOWN_MEMBER_ID


DEFECTS = [
    nobody_hears_of_a_rebalance,
    heartbeats_have_no_generation,
    parts_are_text,
    who_is_left_out_has_a_part,
    members_of_other_generations_are_unknown,
    no_protocol_fits_all,
    rule("GRP-023", r"says REBALANCE_IN_PROGRESS", WhoLeavesIsNotMissed),
    the_only_error_stands_at_the_top,
    instances_do_not_leave,
]
