"""Defects of area GRP: member ids that a client has received and not joined with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    JoinGroupRequest,
    JoinGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.grp import join_of
from labs.defects.one_client import is_from, of_client


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


DEFECTS = [
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
