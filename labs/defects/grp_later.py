"""Defects of area GRP: groups that members leave, come back to, and join with other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.grp import EditsJoins, join_of

SEVERAL_LEAVE = 3


class TypesOutliveMembers(EditsJoins):
    """A group keeps the protocol type of its first member after all have left."""

    def __init__(self) -> None:
        self.types: dict[str, str] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if answer.error_code != ErrorCode.NONE:
            return
        if self.types.setdefault(request.group_id, request.protocol_type) != request.protocol_type:
            answer.error_code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@answers("GRP-046", r"generation 1 after \d")
def emptied_groups_begin_anew(request: JoinGroupRequest, answer: JoinGroupResponse) -> None:
    """A group that all members have left begins again with generation 1."""
    names = [protocol.name for protocol in request.protocols]
    if (request.protocol_type, names) == ("connect", ["default"]):
        answer.generation_id = min(answer.generation_id, 1)


class PendingIdsDoNotLeave(FrameRule):
    """LeaveGroup knows only members that have joined, and no id that was merely assigned."""

    def __init__(self) -> None:
        self.pending: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest):
            edited(seen, payload, self._note)
        elif isinstance(seen.message, LeaveGroupRequest):
            return [edited(seen, payload, self._refuse)]
        return [payload]

    def _note(self, seen: SeenRequest, message: Message) -> None:
        _, answer = join_of(seen, message)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.pending.add(answer.member_id)
        elif answer.error_code == ErrorCode.NONE:
            self.pending.discard(answer.member_id)

    def _refuse(self, seen: SeenRequest, message: LeaveGroupResponse) -> None:
        assert isinstance(seen.message, LeaveGroupRequest)
        if seen.version < SEVERAL_LEAVE and seen.message.member_id in self.pending:
            message.error_code = ErrorCode.UNKNOWN_MEMBER_ID
        for each in message.members:
            if each.member_id in self.pending:
                each.error_code = ErrorCode.UNKNOWN_MEMBER_ID


class AbsentLeadersLead(EditsJoins):
    """A leader that has not joined again leads the next generation, if it stays a member."""

    def __init__(self) -> None:
        self.leaders: dict[str, str] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if not answer.members:
            return
        before = self.leaders.setdefault(request.group_id, answer.leader)
        if before in {entry.member_id for entry in answer.members}:
            answer.leader = before
        self.leaders[request.group_id] = answer.leader


class FirstTimeoutsCount(FrameRule):
    """The broker keeps the timeouts of a member's first join."""

    def __init__(self) -> None:
        self.first_ms: dict[str, tuple[int, int]] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, JoinGroupRequest) or not request.member_id:
            return seen.payload
        said_ms = (request.session_timeout_ms, request.rebalance_timeout_ms)
        first_ms = self.first_ms.setdefault(request.member_id, said_ms)
        request.session_timeout_ms, request.rebalance_timeout_ms = first_ms
        return with_body(seen, request)


class WhoComesBackLateIsUnknown(EditsJoins):
    """The broker forgets the instance ids of a group when a rebalance begins."""

    def __init__(self) -> None:
        self.generations: dict[tuple[str, str], int] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if request.group_instance_id is None or answer.error_code != ErrorCode.NONE:
            return
        instance = (request.group_id, request.group_instance_id)
        before = self.generations.get(instance, answer.generation_id)
        self.generations[instance] = answer.generation_id
        if not request.member_id and answer.generation_id > before:
            answer.error_code = ErrorCode.UNKNOWN_MEMBER_ID


class LeaversAreNotToldSo(FrameRule):
    """A join that waits while its member leaves returns REBALANCE_IN_PROGRESS."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()
        self.left: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, JoinGroupRequest):
            self.waiting.add(request.member_id)
        elif isinstance(request, LeaveGroupRequest):
            leavers = {request.member_id, *(one.member_id for one in request.members)}
            self.left |= leavers & self.waiting - {""}
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, JoinGroupRequest):
            return [payload]
        self.waiting.discard(request.member_id)
        return [edited(seen, payload, self._tell)] if request.member_id in self.left else [payload]

    def _tell(self, _: SeenRequest, answer: JoinGroupResponse) -> None:
        if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            answer.error_code = ErrorCode.REBALANCE_IN_PROGRESS


DEFECTS = [
    rule("GRP-046", r"another type: error is INCONSISTENT_GROUP_PROTOCOL", TypesOutliveMembers),
    emptied_groups_begin_anew,
    changed_field("GRP-047", "the_instance_id_alone_leaves", r"member id: error is NONE",
        "LeaveGroup does not look at the member id of a leaver that names an instance id.",
        LeaveGroupResponse, "members.error_code",
        ErrorCode.FENCED_INSTANCE_ID, ErrorCode.NONE, range(SEVERAL_LEAVE, 99)),
    rule("GRP-048", r"leave with the id: error is UNKNOWN_MEMBER_ID", PendingIdsDoNotLeave),
    rule("GRP-049", r"the leader is .*, not the member that joined", AbsentLeadersLead),
    replace(rule("GRP-050", r"REBALANCE|within|no answer", FirstTimeoutsCount), private=True),
    rule("GRP-054", r"the join that waits: error is REBALANCE", LeaversAreNotToldSo),
    rule("GRP-051", r"join of instance-\d: error is UNKNOWN_MEMBER_ID", WhoComesBackLateIsUnknown),
]  # fmt: skip
