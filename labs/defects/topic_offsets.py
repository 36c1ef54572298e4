"""Defects of area TOPIC: committed offsets of a deleted topic."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.header import decode_response, encode_response
from harness.codec.messages import OffsetFetchRequest, OffsetFetchResponse
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import rule

Topics = list[OffsetFetchResponse.OffsetFetchResponseTopic]
GroupTopics = list[OffsetFetchResponse.OffsetFetchResponseTopics]


class OffsetsOutliveTheirTopic(FrameRule):
    """OffsetFetch returns offsets of a deleted topic."""

    def __init__(self) -> None:
        self.seen: dict[str, Topics] = {}
        self.seen_of_groups: dict[str, GroupTopics] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if seen.api is None or not isinstance(request, OffsetFetchRequest):
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, OffsetFetchResponse)
        if request.topics is None:
            known = self.seen.setdefault(request.group_id, message.topics)
            message.topics = max(known, message.topics, key=len)
        for asked, group in zip(request.groups, message.groups, strict=True):
            if asked.topics is None:
                found = self.seen_of_groups.setdefault(asked.group_id, group.topics)
                group.topics = max(found, group.topics, key=len)
        return [encode_response(message, seen.version, correlation_id)]


DEFECTS = [
    rule("TOPIC-034", r"are committed, not \['.+', '.+', '.+'\]", OffsetsOutliveTheirTopic),
]
