"""Defects of area OFFS in private brokers: limits on the amount and the time of offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    JoinGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import takes

NOT_SAID = -1
REFUSALS = frozenset({ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ErrorCode.UNKNOWN_SERVER_ERROR})


@takes("OFFS-017", r"not within .*partition 0 has expired", range(4))
def all_offsets_are_kept_as_long(request: OffsetCommitRequest) -> None:
    """The broker ignores the time and the retention of a commit of version 1 to 3."""
    request.retention_time_ms = NOT_SAID
    for topic in request.topics:
        for part in topic.partitions:
            part.commit_timestamp = NOT_SAID


class OffsetsOutliveTheirMembers(FrameRule):
    """The broker keeps a group's offsets after all its members have left."""

    def __init__(self) -> None:
        self.kept: dict[str, int] = {}
        self.members: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, JoinGroupRequest):
            self.members.add(seen.message.group_id)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, OffsetFetchRequest):
            return [edited(seen, payload, self._keep)]
        return [payload]

    def _keep(self, _: SeenRequest, message: OffsetFetchResponse) -> None:
        for group in message.groups:
            if group.group_id in self.members:
                for topic in group.topics:
                    for found in topic.partitions:
                        before = self.kept.get(group.group_id, NOT_SAID)
                        found.committed_offset = max(found.committed_offset, before)
                        self.kept[group.group_id] = found.committed_offset


DEFECTS = [
    replace(made, private=True)
    for made in (
        all_offsets_are_kept_as_long,
        rule("OFFS-018", r"not within .* has expired", OffsetsOutliveTheirMembers),
        changed_field("OFFS-026", "a_commit_may_be_too_large", r"NONE \(0\) is none of",
            "The broker acknowledges a commit that was too large for it.",
            OffsetCommitResponse, "topics.partitions.error_code", REFUSALS, ErrorCode.NONE),
    )
]  # fmt: skip
