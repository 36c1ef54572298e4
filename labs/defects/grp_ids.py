"""Defects of area GRP: member ids that are not joined with, requests that are sent again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import with_body
from labs.defects.grp import join_of
from labs.defects.one_client import is_from, of_client

Waiting = tuple[str, str]
"""API and member id."""


class AssignedIdsAreMembers(FrameRule):
    """DeleteGroups refuses a group in which a client has received an id and no other has joined."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest) and is_from(seen, "GRP-075"):
            return [edited(seen, payload, self._note)]
        if isinstance(seen.message, DeleteGroupsRequest):
            return [edited(seen, payload, self._refuse)]
        return [payload]

    def _note(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.given.add(request.group_id)

    def _refuse(self, _: SeenRequest, message: DeleteGroupsResponse) -> None:
        for result in message.results:
            if result.group_id in self.given:
                result.error_code = ErrorCode.NON_EMPTY_GROUP


class AssignedIdsBeginRebalances(FrameRule):
    """The broker begins a rebalance when it assigns a member id, before a member joins with it."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest) and is_from(seen, "GRP-079"):
            self.assigned.add(seen.message.group_id)
        if isinstance(seen.message, HeartbeatRequest) and seen.message.group_id in self.assigned:
            return [edited(seen, payload, self._rebalance)]
        return [payload]

    def _rebalance(self, _: SeenRequest, message: HeartbeatResponse) -> None:
        message.error_code = ErrorCode.REBALANCE_IN_PROGRESS


class RepeatedRequestsAreRefused(FrameRule):
    """The broker refuses a request of a member while a former one of it waits."""

    def __init__(self) -> None:
        self.waiting: Counter[Waiting] = Counter()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.waiting[_waiting(seen)] += 1
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        waiting, is_repeated = _waiting(seen), self.waiting[_waiting(seen)] > 1
        self.waiting[waiting] = 0
        strikes = is_repeated and waiting[1] != "" and is_from(seen, "GRP-077")
        return [edited(seen, payload, self._refuse)] if strikes else [payload]

    def _refuse(self, _: SeenRequest, message: JoinGroupResponse | SyncGroupResponse) -> None:
        message.error_code = ErrorCode.UNKNOWN_MEMBER_ID


class RepeatedJoinsHaveNoMembers(FrameRule):
    """A leader that joins the same generation twice receives no members with the second answer."""

    def __init__(self) -> None:
        self.joined: set[tuple[str, int]] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest) and is_from(seen, "GRP-082"):
            return [edited(seen, payload, self._empty)]
        return [payload]

    def _empty(self, _: SeenRequest, message: JoinGroupResponse) -> None:
        joined = message.member_id, message.generation_id
        if joined in self.joined:
            message.members = []
        self.joined.add(joined)


class StrangersAreRefused(FrameRule):
    """The broker refuses a SyncGroup with an assignment for an id that is no member."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, SyncGroupRequest) or not is_from(seen, "GRP-083"):
            return seen.payload
        if "no-such-member" not in {each.member_id for each in request.assignments}:
            return seen.payload
        request.member_id = "no-such-member"
        return with_body(seen, request)


def _waiting(seen: SeenRequest) -> Waiting:
    """Return API and member of a request that may wait."""
    if isinstance(seen.message, JoinGroupRequest | SyncGroupRequest):
        return type(seen.message).__name__, seen.message.member_id
    return "", ""


DEFECTS = [
    replace(
        rule("GRP-079", r"heartbeat, the first id: error is REBALANCE_IN_PROGRESS",
             AssignedIdsBeginRebalances),
        private=True,
    ),
    replace(
        changed_field("GRP-079", "an_id_alone_has_a_session",
            r"Heartbeat with the first id: error is NONE",
            "A Heartbeat with a member id with which no client has joined is accepted.",
            HeartbeatResponse, "error_code",
            ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE, asked=of_client("GRP-079")),
        private=True,
    ),
    rule("GRP-083", r"sync: error is UNKNOWN_MEMBER_ID", StrangersAreRefused),
    rule("GRP-077", r"(join of a member|sent again): error is UNKNOWN_MEMBER_ID",
         RepeatedRequestsAreRefused),
    rule("GRP-082", r"the leader's generation, leader and number of members are \(\d+, '.*', 0\)",
         RepeatedJoinsHaveNoMembers),
    rule("GRP-075", r"a group with an assigned id alone: error is NON_EMPTY_GROUP",
         AssignedIdsAreMembers),
    replace(
        changed_field("GRP-076", "refused_ids_stay",
            r"the id that was refused: error is MEMBER_ID_REQUIRED",
            "A full group keeps the member id of a client that it refuses.",
            JoinGroupResponse, "error_code",
            ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.MEMBER_ID_REQUIRED, asked=of_client("GRP-076")),
        private=True,
    ),
]  # fmt: skip
