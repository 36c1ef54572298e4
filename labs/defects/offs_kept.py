"""Defects of area OFFS in private brokers: limits on the amount and the time of offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import takes
from labs.defects.offs import EditsReads
from labs.defects.waiting_joins import WaitingJoins

NOT_SAID = -1
COMMITTED_AGAIN = 70
REFUSALS = frozenset({ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ErrorCode.UNKNOWN_SERVER_ERROR})


@takes("OFFS-017", r"not within .*partition 0 has expired", range(4))
def all_offsets_are_kept_as_long(request: OffsetCommitRequest) -> None:
    """The broker ignores the time and the retention of a commit of version 1 to 3."""
    request.retention_time_ms = NOT_SAID
    for topic in request.topics:
        for part in topic.partitions:
            part.commit_timestamp = NOT_SAID


class _KeepsOffsets(EditsReads):
    """Remember the groups that members have joined and left; change the offsets that are read."""

    def __init__(self) -> None:
        self.joined: set[str] = set()
        self.left: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, JoinGroupRequest):
            self.joined.add(seen.message.group_id)
        elif isinstance(seen.message, LeaveGroupRequest):
            self.left.add(seen.message.group_id)
        return seen.payload

    def _keep(self, _: SeenRequest, message: OffsetFetchResponse) -> None:
        for group in message.groups:
            if group.group_id in self.joined:
                for topic in group.topics:
                    for found in topic.partitions:
                        found.committed_offset = self.kept(group.group_id, found.committed_offset)

    def kept(self, group_id: str, offset: int) -> int:
        """Return the offset that a client reads instead."""
        raise NotImplementedError


class OffsetsOutliveTheirMembers(_KeepsOffsets):
    """The broker keeps a group's offsets after all its members have left."""

    def __init__(self) -> None:
        super().__init__()
        self.highest: dict[str, int] = {}

    def kept(self, group_id: str, offset: int) -> int:
        highest = max(offset, self.highest.get(group_id, NOT_SAID))
        self.highest[group_id] = highest
        return highest if group_id in self.left else offset


class MembersKeepAllOffsets(_KeepsOffsets):
    """A group with members keeps all its offsets, also of topics that no member uses."""

    def kept(self, group_id: str, offset: int) -> int:
        return offset if group_id in self.left else max(offset, 0)


class RebalancesLoseOffsets(_KeepsOffsets):
    """The offsets of a group expire while a member of it waits in JoinGroup."""

    def __init__(self) -> None:
        super().__init__()
        self._joins = WaitingJoins()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self._joins.on_request(seen)
        return super().on_request(seen)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        self._joins.on_response(seen, payload)
        return super().on_response(seen, payload)

    def kept(self, group_id: str, offset: int) -> int:
        return NOT_SAID if self._joins.of_group(group_id) else offset


class TheFirstCommitCounts(FrameRule):
    """The retention of an offset begins with the first commit of its group."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, OffsetFetchRequest):
            return [edited(seen, payload, self._expire)]
        return [payload]

    def _expire(self, _: SeenRequest, message: OffsetFetchResponse) -> None:
        for group in message.groups:
            for topic in group.topics:
                for found in topic.partitions:
                    if found.committed_offset == COMMITTED_AGAIN:
                        found.committed_offset = NOT_SAID


class RefusedGroupsStayRefused(FrameRule):
    """After a commit that was too large the broker refuses all commits of the group."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, OffsetCommitRequest):
            return [edited(seen, payload, self._refuse)]
        return [payload]

    def _refuse(self, seen: SeenRequest, message: OffsetCommitResponse) -> None:
        assert isinstance(seen.message, OffsetCommitRequest)
        results = [part for topic in message.topics for part in topic.partitions]
        if REFUSALS.intersection(each.error_code for each in results):
            self.refused.add(seen.message.group_id)
        elif seen.message.group_id in self.refused:
            for each in results:
                each.error_code = ErrorCode.UNKNOWN_SERVER_ERROR


DEFECTS = [
    replace(made, private=True)
    for made in (
        all_offsets_are_kept_as_long,
        rule("OFFS-018", r"not within .* has expired", OffsetsOutliveTheirMembers),
        rule("OFFS-030", r"the offset was kept for \d+ s", TheFirstCommitCounts),
        rule("OFFS-032", r"in a rebalance.* is \(-1", RebalancesLoseOffsets),
        rule("OFFS-028", r"not within .* has expired", MembersKeepAllOffsets),
        rule("OFFS-026", r"smaller, partition \d.*: error is UNKNOWN_SERVER_ERROR",
             RefusedGroupsStayRefused),
        changed_field("OFFS-026", "a_commit_may_be_too_large", r"NONE \(0\) is none of",
            "The broker acknowledges a commit that was too large for it.",
            OffsetCommitResponse, "topics.partitions.error_code", REFUSALS, ErrorCode.NONE),
    )
]  # fmt: skip
