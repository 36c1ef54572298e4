"""Defects of area GRP: static members."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatResponse,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import answers, edited, rule
from labs.defects.grp import join_of

SKIPS, STATICS_LEAVE = 9, 3


class WhoStartsAgainHasNothing(FrameRule):
    """A static member that starts again keeps its membership and loses its assignment."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()
        self.again: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest):
            return [edited(seen, payload, self._note)]
        if isinstance(seen.message, SyncGroupRequest) and seen.message.member_id in self.again:
            return [edited(seen, payload, self._lose)]
        return [payload]

    def _note(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if request.group_instance_id is None or request.member_id:
            return
        instance = (request.group_id, request.group_instance_id)
        if instance in self.seen:
            self.again.add(answer.member_id)
        self.seen.add(instance)

    def _lose(self, _seen: SeenRequest, message: Message) -> None:
        assert isinstance(message, SyncGroupResponse)
        message.assignment = b""


@answers("GRP-036", r"heartbeat: error is UNKNOWN_MEMBER_ID", "Heartbeat")
def who_is_replaced_is_unknown(_seen: SeenRequest, message: Message) -> None:
    """The heartbeat of a replaced static member gets UNKNOWN_MEMBER_ID."""
    assert isinstance(message, HeartbeatResponse)
    if message.error_code == ErrorCode.FENCED_INSTANCE_ID:
        message.error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-037", r"leave: error is UNKNOWN_MEMBER_ID", "LeaveGroup", range(STATICS_LEAVE, 99))
def nobody_leaves_without_a_member_id(seen: SeenRequest, message: Message) -> None:
    """LeaveGroup for one member requires its member id."""
    assert isinstance(seen.message, LeaveGroupRequest)
    assert isinstance(message, LeaveGroupResponse)
    if len(message.members) == 1 and not seen.message.members[0].member_id:
        message.members[0].error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-039", r"not told to skip the assignment", "JoinGroup", range(SKIPS, 99))
def all_leaders_assign(seen: SeenRequest, message: Message) -> None:
    """JoinGroup instructs no leader to skip the assignment."""
    _, answer = join_of(seen, message)
    answer.skip_assignment = False


DEFECTS = [
    rule("GRP-035", r"its part is b''", WhoStartsAgainHasNothing),
    who_is_replaced_is_unknown,
    nobody_leaves_without_a_member_id,
    all_leaders_assign,
]
