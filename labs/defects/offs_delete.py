"""Defects of area OFFS: deletion of offsets."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import OffsetDeleteRequest, OffsetDeleteResponse
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import with_body
from labs.defects.waiting_joins import WaitingJoins

MOST_PARTITIONS = 4
Place = tuple[str, int]


class TheWholeTopicIsDeleted(FrameRule):
    """OffsetDelete deletes the offsets of a whole topic instead of some of its partitions."""

    def __init__(self) -> None:
        self.asked: dict[str, set[Place]] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, OffsetDeleteRequest):
            return seen.payload
        asked = self.asked[request.group_id] = set()
        for topic in request.topics:
            named = {part.partition_index for part in topic.partitions}
            asked |= {(topic.name, index) for index in named}
            topic.partitions += [
                OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=index)
                for index in range(MOST_PARTITIONS)
                if index not in named
            ]
        return with_body(seen, request)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or not isinstance(seen.message, OffsetDeleteRequest):
            return [payload]
        asked = self.asked[seen.message.group_id]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, OffsetDeleteResponse)
        for topic in message.topics:
            topic.partitions = [
                part for part in topic.partitions if (topic.name, part.partition_index) in asked
            ]
        return [encode_response(message, seen.version, correlation_id)]


class OnlyStableGroupsSubscribe(WaitingJoins):
    """OffsetDelete does not look at subscriptions while a member waits in JoinGroup."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, OffsetDeleteRequest) and self.of_group(request.group_id):
            return [edited(seen, payload, self._delete)]
        return super().on_response(seen, payload)

    def _delete(self, _: SeenRequest, message: OffsetDeleteResponse) -> None:
        for topic in message.topics:
            for part in topic.partitions:
                part.error_code = ErrorCode.NONE


DEFECTS = [
    rule("OFFS-033", r"in the join phase, .*: error is NONE", OnlyStableGroupsSubscribe),
    rule("OFFS-020", r"partition 1: .* is \(-1, ''\), expected", TheWholeTopicIsDeleted),
    changed_field("OFFS-021", "nothing_to_delete_is_deleted", r"group '.+': error is NONE",
        "OffsetDelete for an unknown group succeeds.",
        OffsetDeleteResponse, "error_code", ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NONE),
    changed_field("OFFS-027", "offsets_of_workers_are_deleted",
        r"beside a connect worker: error is NONE",
        "OffsetDelete does not regard members of other types than consumers.",
        OffsetDeleteResponse, "error_code", ErrorCode.NON_EMPTY_GROUP, ErrorCode.NONE),
]  # fmt: skip
