"""Defects of area GRP: members and deadlines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import Defect, edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.grp import NO_GENERATION, join_of
from labs.defects.grp_members import KnowsWhatWasLeft
from labs.defects.one_client import is_from

LONG_REBALANCE_MS = 120_000
JOINS_OF_LEADER = 3  # of two members: for its id, alone, and with the second one
MEMBER = JoinGroupResponse.JoinGroupResponseMember


def _private(defect: Defect) -> Defect:
    return replace(defect, private=True)


class _RemembersRosters(KnowsWhatWasLeft):
    """Remember the leader and the members of each group that no member has left."""

    def __init__(self) -> None:
        super().__init__()
        self.rosters: dict[str, tuple[str, list[MEMBER]]] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest):
            return [edited(seen, payload, self._compare)]
        if isinstance(seen.message, LeaveGroupRequest):
            self.left.add(seen.message.group_id)
        return [payload]

    def _compare(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if not answer.members or request.group_id in self.left:
            return
        leader, before = self.rosters.get(request.group_id, (answer.leader, []))
        self.rosters[request.group_id] = (answer.leader, list(answer.members))
        now = {entry.member_id for entry in answer.members}
        dropped = [entry for entry in before if entry.member_id not in now]
        if dropped and self.forgives(request, leader == answer.leader):
            answer.members += dropped

    def forgives(self, request: JoinGroupRequest, leader_stays: bool) -> bool:
        raise NotImplementedError


class WhoDoesNotJoinIsKept(_RemembersRosters):
    """The leader receives followers that have not joined again as members."""

    def forgives(self, request: JoinGroupRequest, leader_stays: bool) -> bool:
        return leader_stays


class LeadersAreKept(_RemembersRosters):
    """The new leader receives the dropped former leader as a member."""

    def forgives(self, request: JoinGroupRequest, leader_stays: bool) -> bool:
        return not leader_stays


class LongRebalancesHaveNoSessions(_RemembersRosters):
    """The broker ignores the end of a session if the rebalance timeout is long."""

    def forgives(self, request: JoinGroupRequest, leader_stays: bool) -> bool:
        return leader_stays and request.rebalance_timeout_ms >= LONG_REBALANCE_MS


class WhoIsDroppedMayJoin(KnowsWhatWasLeft):
    """A dropped dynamic member's heartbeat gets REBALANCE_IN_PROGRESS, so it joins with its id."""

    def __init__(self) -> None:
        super().__init__()
        self.joined: set[tuple[str, str]] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, JoinGroupRequest):
            self.joined.add((seen.message.group_id, seen.message.member_id))
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if isinstance(request, HeartbeatRequest):
            is_member = (request.group_id, request.member_id) in self.joined
            strikes = is_member and not _is_static(seen)
            return [edited(seen, payload, self._say)] if strikes else [payload]
        return super().on_response(seen, payload)

    def _say(self, seen: SeenRequest, message: HeartbeatResponse) -> None:
        assert isinstance(seen.message, HeartbeatRequest)
        is_dropped = message.error_code == ErrorCode.UNKNOWN_MEMBER_ID
        if is_dropped and seen.message.group_id not in self.left:
            message.error_code = ErrorCode.REBALANCE_IN_PROGRESS


def _is_static(seen: SeenRequest) -> bool:
    return isinstance(seen.message, HeartbeatRequest) and bool(seen.message.group_instance_id)


@answers("GRP-002", r"the generations are")
def the_second_is_of_the_second_generation(answer: JoinGroupResponse) -> None:
    """A follower of the first generation receives the number of the next one."""
    if answer.generation_id == 1 and not answer.members:
        answer.generation_id = 2


class HeartbeatsDoNotCount(FrameRule):
    """The broker answers the heartbeats of a lone member, and ends its session all the same."""

    def __init__(self) -> None:
        self.joins: Counter[str] = Counter()

    def _is_alone(self, seen: SeenRequest) -> bool:
        return isinstance(seen.message, HeartbeatRequest) and (
            self.joins[seen.message.group_id] <= 2
        )

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, JoinGroupRequest):
            self.joins[seen.message.group_id] += 1
        if not self._is_alone(seen):
            return seen.payload
        assert isinstance(seen.message, HeartbeatRequest)
        seen.message.generation_id = NO_GENERATION
        return with_body(seen, seen.message)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [edited(seen, payload, self._forgive)] if self._is_alone(seen) else [payload]

    def _forgive(self, _seen: SeenRequest, message: HeartbeatResponse) -> None:
        if message.error_code == ErrorCode.ILLEGAL_GENERATION:
            message.error_code = ErrorCode.NONE


class TheSmallestTimeoutCounts(FrameRule):
    """A join phase lasts for the smallest rebalance timeout that a member of the group has had."""

    def __init__(self) -> None:
        self.smallest_ms: dict[str, int] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, JoinGroupRequest):
            return seen.payload
        before_ms = self.smallest_ms.get(request.group_id, request.rebalance_timeout_ms)
        request.rebalance_timeout_ms = min(before_ms, request.rebalance_timeout_ms)
        self.smallest_ms[request.group_id] = request.rebalance_timeout_ms
        return with_body(seen, request)


class EveryJoinProlongsThePhase(FrameRule):
    """A member that waits in its join is not answered while others join."""

    def __init__(self) -> None:
        self.joins: Counter[str] = Counter()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, JoinGroupRequest) or not is_from(seen, "GRP-012"):
            return [payload]
        self.joins[request.group_id] += 1
        return [payload] if self.joins[request.group_id] <= JOINS_OF_LEADER else []


DEFECTS = [
    rule("GRP-012", r"the members are .*, expected (one|without)", WhoDoesNotJoinIsKept),
    rule("GRP-012", r"still waits after \d rebalance timeouts", EveryJoinProlongsThePhase),
    rule("GRP-013", r"heartbeat: error is REBALANCE_IN_PROGRESS", WhoIsDroppedMayJoin),
    changed_field("GRP-013", "removed_members_may_commit", r"commit: error is NONE",
        "The broker stores the offsets of a member that it has removed.",
        OffsetCommitResponse, "topics.partitions.error_code",
        ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE),
    rule("GRP-020", r"the members are .*, expected the follower", LeadersAreKept),
    rule("GRP-043", r"the largest timeout is \d+ ms", TheSmallestTimeoutCounts),
    _private(
        changed_field("GRP-045", "expired_ids_are_replaced",
            r"an id that has expired: error is MEMBER_ID_REQUIRED",
            "The broker answers a join with an expired member id like one without an id.",
            JoinGroupResponse, "error_code",
            ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.MEMBER_ID_REQUIRED)
    ),
    _private(the_second_is_of_the_second_generation),
    _private(
        changed_field("GRP-014", "silent_members_are_welcome_back",
            r"the silent one's heartbeat: error is NONE",
            "A heartbeat after the end of the session continues the session.",
            HeartbeatResponse, "error_code", ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE)
    ),
    _private(
        changed_field("GRP-052", "statics_that_came_back_never_go",
            r"the silent one's heartbeat: error is NONE",
            "A heartbeat of a static member after the end of its session continues the session.",
            HeartbeatResponse, "error_code",
            ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE, asked=_is_static)
    ),
    _private(
        rule("GRP-015", r"heartbeat after \d+ ms: error is UNKNOWN_MEMBER", HeartbeatsDoNotCount)
    ),
    _private(rule("GRP-042", r"the members are .*, expected one", LongRebalancesHaveNoSessions)),
    _private(
        changed_field("GRP-038", "a_full_group_gives_out_ids",
            r"the third: error is MEMBER_ID_REQUIRED",
            "A full group returns a member id before it refuses the member.",
            JoinGroupResponse, "error_code",
            ErrorCode.GROUP_MAX_SIZE_REACHED, ErrorCode.MEMBER_ID_REQUIRED)
    ),
]  # fmt: skip
