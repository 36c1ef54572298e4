"""Defects of area GRP: static members."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.grp import SeenInstances, join_of
from labs.defects.one_client import is_from

SKIPS, STATICS_LEAVE, STATICS_COMMIT = 9, 3, 7


class WhoStartsAgainHasNothing(FrameRule):
    """A static member that starts again keeps its membership and loses its assignment."""

    def __init__(self) -> None:
        self.instances = SeenInstances()
        self.again: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest):
            return [edited(seen, payload, self._note)]
        if isinstance(seen.message, SyncGroupRequest) and seen.message.member_id in self.again:
            return [edited(seen, payload, self._lose)]
        return [payload]

    def _note(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if self.instances.comes_back(request):
            self.again.add(answer.member_id)

    def _lose(self, _seen: SeenRequest, message: SyncGroupResponse) -> None:
        message.assignment = b""


@answers("GRP-037", r"leave: error is UNKNOWN_MEMBER_ID", range(STATICS_LEAVE, 99))
def nobody_leaves_without_a_member_id(
    request: LeaveGroupRequest, answer: LeaveGroupResponse
) -> None:
    """LeaveGroup for one member requires its member id."""
    if len(answer.members) == 1 and not request.members[0].member_id:
        answer.members[0].error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-066", r"commit: error is FENCED_INSTANCE_ID", range(STATICS_COMMIT, 99))
def static_members_commit_nothing(
    request: OffsetCommitRequest, answer: OffsetCommitResponse
) -> None:
    """OffsetCommit accepts no static member."""
    if request.group_instance_id is not None:
        for topic in answer.topics:
            for partition in topic.partitions:
                partition.error_code = ErrorCode.FENCED_INSTANCE_ID


class InstancesAreOfNoGroup(FrameRule):
    """An instance id is that of the member that joined with it last, in whichever group."""

    def __init__(self) -> None:
        self.groups: dict[str, str] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not is_from(seen, "GRP-066"):
            return [payload]
        if isinstance(request, JoinGroupRequest) and request.group_instance_id is not None:
            self.groups[request.group_instance_id] = request.group_id
        if isinstance(request, HeartbeatRequest) and request.group_instance_id is not None:
            is_other = self.groups.get(request.group_instance_id) != request.group_id
            return [edited(seen, payload, self._fence)] if is_other else [payload]
        return [payload]

    def _fence(self, _: SeenRequest, message: HeartbeatResponse) -> None:
        message.error_code = ErrorCode.FENCED_INSTANCE_ID


DEFECTS = [
    static_members_commit_nothing,
    rule("GRP-066", r"heartbeat: error is FENCED_INSTANCE_ID", InstancesAreOfNoGroup),
    rule("GRP-035", r"its part is b''", WhoStartsAgainHasNothing),
    changed_field("GRP-036", "who_is_replaced_is_unknown", r"heartbeat: error is UNKNOWN_MEMBER_ID",
        "The heartbeat of a replaced static member gets UNKNOWN_MEMBER_ID.",
        HeartbeatResponse, "error_code", ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNKNOWN_MEMBER_ID),
    nobody_leaves_without_a_member_id,
    changed_field("GRP-039", "all_leaders_assign", r"starts again has no skip_assignment",
        "JoinGroup instructs no leader to skip the assignment.",
        JoinGroupResponse, "skip_assignment", ANY, False, range(SKIPS, 99)),
    changed_field("GRP-039", "no_leader_assigns", r"a new generation has skip_assignment",
        "JoinGroup instructs every member to skip the assignment.",
        JoinGroupResponse, "skip_assignment", ANY, True, range(SKIPS, 99)),
]  # fmt: skip
