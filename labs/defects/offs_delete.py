"""Defects of area OFFS: deletion of offsets."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    DeleteTopicsRequest,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import with_body

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


class OffsetsOutliveTheirTopic(FrameRule):
    """A group keeps an offset of a deleted topic, and a new topic of that name has it."""

    def __init__(self) -> None:
        self.deleted: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, DeleteTopicsRequest):
            named = (topic.name for topic in seen.message.topics if topic.name)
            self.deleted.update(named, seen.message.topic_names)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, OffsetFetchRequest):
            return [edited(seen, payload, self._keep)]
        return [payload]

    def _keep(self, _: SeenRequest, message: OffsetFetchResponse) -> None:
        for group in message.groups:
            for topic in group.topics:
                if topic.name in self.deleted:
                    for found in topic.partitions:
                        found.committed_offset = max(found.committed_offset, 0)


DEFECTS = [
    rule("OFFS-020", r"partition 1: .* is \(-1, ''\), expected", TheWholeTopicIsDeleted),
    changed_field("OFFS-021", "nothing_to_delete_is_deleted", r"group '.+': error is NONE",
        "OffsetDelete for an unknown group succeeds.",
        OffsetDeleteResponse, "error_code", ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NONE),
    rule("OFFS-027", r"made again, partition 0: offset is 0", OffsetsOutliveTheirTopic),
    changed_field("OFFS-028", "offsets_of_workers_are_deleted",
        r"beside a connect worker: error is NONE",
        "OffsetDelete does not regard members of other types than consumers.",
        OffsetDeleteResponse, "error_code", ErrorCode.NON_EMPTY_GROUP, ErrorCode.NONE),
]  # fmt: skip
