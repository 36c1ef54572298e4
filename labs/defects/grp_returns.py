"""Defects of area GRP: static members that come back, and generations that are interrupted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeGroupsResponse,
    JoinGroupRequest,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.grp import EditsJoins, SeenInstances, join_of


class ReturnsLeaveSyncsAssigned(FrameRule):
    """A SyncGroup that waits when a static member comes back returns an empty assignment."""

    def __init__(self) -> None:
        self.instances = SeenInstances()
        self.returned_to: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, JoinGroupRequest) and self.instances.comes_back(request):
            self.returned_to.add(request.group_id)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, SyncGroupRequest) and request.group_id in self.returned_to:
            return [edited(seen, payload, self._assign)]
        return [payload]

    def _assign(self, _: SeenRequest, answer: SyncGroupResponse) -> None:
        if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            answer.error_code = ErrorCode.NONE


class ReturnedLeadersFollow(EditsJoins):
    """After a static member has come back, each follower receives itself as the leader."""

    def __init__(self) -> None:
        self.instances = SeenInstances()
        self.returned_in: dict[str, int] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if self.instances.comes_back(request):
            self.returned_in[request.group_id] = answer.generation_id
        if request.group_instance_id is None:
            return
        later = answer.generation_id > self.returned_in.get(request.group_id, answer.generation_id)
        if later and not answer.members:
            answer.leader = answer.member_id


class NewMembersHaveTheirOwnSession(EditsJoins):
    """A JoinGroup that has waited for the session of its member returns UNKNOWN_MEMBER_ID."""

    def __init__(self) -> None:
        self.since: dict[tuple[str, str], float] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, JoinGroupRequest):
            self.since[request.group_id, request.member_id] = time.monotonic()
        return seen.payload

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        since = self.since[request.group_id, request.member_id]
        waited_ms = (time.monotonic() - since) * 1000
        if waited_ms > request.session_timeout_ms:
            answer.error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-072", r"the assignments are")
def interrupted_generations_keep_assignments(answer: DescribeGroupsResponse) -> None:
    """DescribeGroups returns assignments in a join phase."""
    for group in answer.groups:
        if group.group_state == "PreparingRebalance":
            for member in group.members:
                member.member_assignment = b"former"


DEFECTS = [
    rule("GRP-070", r"the sync that waits: error is NONE", ReturnsLeaveSyncsAssigned),
    rule("GRP-071", r"the leaders are", ReturnedLeadersFollow),
    interrupted_generations_keep_assignments,
    replace(
        rule("GRP-073", r"join of a member: error is UNKNOWN", NewMembersHaveTheirOwnSession),
        private=True,
    ),
]
