"""Defects of area GRP: phases of a rebalance, and members that change or come back in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import Defect, edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.grp import EditsJoins, join_of
from labs.defects.one_client import is_from, of_client

SKIPS = 9
LONG_MS, LEAST_SESSION_MS = 120_000, 2_000
MANY = 99
Protocols = list[JoinGroupRequest.JoinGroupRequestProtocol]


def _private(defect: Defect) -> Defect:
    return replace(defect, private=True)


def _names(protocols: Protocols) -> list[str]:
    return [protocol.name for protocol in protocols]


class FirstListCounts(FrameRule):
    """The broker ignores a member's change of its list of protocols."""

    def __init__(self) -> None:
        self.first: dict[str, Protocols] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, JoinGroupRequest) or not request.member_id:
            return seen.payload
        first = self.first.setdefault(request.member_id, request.protocols)
        if _names(first) == _names(request.protocols):
            return seen.payload
        request.protocols = first
        return with_body(seen, request)


class InstancesKeepTheirProtocols(FrameRule):
    """The broker ignores the protocols with which a static member comes back."""

    def __init__(self) -> None:
        self.first: dict[tuple[str, str], Protocols] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, JoinGroupRequest) or request.group_instance_id is None:
            return seen.payload
        instance = (request.group_id, request.group_instance_id)
        first = self.first.setdefault(instance, request.protocols)
        if request.member_id or _names(first) == _names(request.protocols):
            return seen.payload
        request.protocols = first
        return with_body(seen, request)


class AnyGenerationKeepsAMember(FrameRule):
    """A request of another generation is refused, and keeps the session of its member."""

    def __init__(self) -> None:
        self.generations: dict[str, int] = {}
        self.stale: list[Message] = []

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, HeartbeatRequest):
            name = "generation_id"
        elif isinstance(request, OffsetCommitRequest):
            name = "generation_id_or_member_epoch"
        else:
            return seen.payload
        current = self.generations.get(request.member_id)
        if current is None or getattr(request, name) >= current:
            return seen.payload
        setattr(request, name, current)
        self.stale.append(request)
        return with_body(seen, request)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, JoinGroupRequest):
            edited(seen, payload, self._note)
        if any(seen.message is each for each in self.stale):
            return [edited(seen, payload, self._refuse)]
        return [payload]

    def _note(self, seen: SeenRequest, message: Message) -> None:
        _, answer = join_of(seen, message)
        if answer.error_code == ErrorCode.NONE:
            self.generations[answer.member_id] = answer.generation_id

    def _refuse(self, _: SeenRequest, message: Message) -> None:
        if isinstance(message, HeartbeatResponse):
            message.error_code = ErrorCode.ILLEGAL_GENERATION
        elif isinstance(message, OffsetCommitResponse):
            for topic in message.topics:
                for result in topic.partitions:
                    result.error_code = ErrorCode.ILLEGAL_GENERATION


class _OtherRebalanceTimeout(FrameRule):
    """Joins of the test of GRP-059 have another rebalance timeout."""

    timeout_ms = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, JoinGroupRequest) or not is_from(seen, "GRP-059"):
            return seen.payload
        request.rebalance_timeout_ms = self.timeout_ms
        return with_body(seen, request)


class NewcomersProlongForever(_OtherRebalanceTimeout):
    """The broker prolongs the initial delay without regard to the rebalance timeout."""

    timeout_ms = LONG_MS


class NewcomersProlongNothing(_OtherRebalanceTimeout):
    """The first join phase of a group lasts for one delay; no join prolongs it."""

    timeout_ms = 1


@answers("GRP-064", r"it is not listed with", range(4, MANY))
def states_are_compared_by_case(request: ListGroupsRequest, answer: ListGroupsResponse) -> None:
    """ListGroups compares the states of its filter with upper and lower case."""
    if request.states_filter:
        answer.groups = [one for one in answer.groups if one.group_state in request.states_filter]


class LeadersThatComeBackLead(EditsJoins):
    """A static leader that comes back receives its new member id as leader at every version."""

    def __init__(self) -> None:
        self.ids: dict[tuple[str, str], str] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if request.group_instance_id is None or answer.error_code != ErrorCode.NONE:
            return
        instance = (request.group_id, request.group_instance_id)
        former = self.ids.get(instance)
        if not request.member_id and seen.version < SKIPS and answer.leader == former:
            answer.leader = answer.member_id
        self.ids[instance] = answer.member_id


DEFECTS = [
    rule("GRP-055", r"says REBALANCE_IN_PROGRESS", FirstListCounts),
    _private(
        changed_field("GRP-056", "an_emptied_group_does_not_wait", r"the generations are",
            "In a group that all members have left a second newcomer is in a later generation.",
            JoinGroupResponse, "generation_id", ANY, MANY, asked=of_client("GRP-056"))
    ),
    _private(
        rule("GRP-057", r"the leader's heartbeat: error is NONE", AnyGenerationKeepsAMember)
    ),
    _private(
        changed_field("GRP-058", "a_join_phase_has_room_for_all",
            r"the errors of the last two are",
            "A join phase accepts members beyond the largest size of a group.",
            JoinGroupResponse, "error_code",
            ErrorCode.GROUP_MAX_SIZE_REACHED, ErrorCode.NONE, asked=of_client("GRP-058"))
    ),
    _private(rule("GRP-059", r"the first member still waits", NewcomersProlongForever)),
    _private(rule("GRP-059", r"the join phase ended in|no answer|the members are",
                  NewcomersProlongNothing)),
    changed_field("GRP-060", "syncs_have_no_type", r"sync of the \w+ member: type and name are",
        "SyncGroup returns no protocol type.",
        SyncGroupResponse, "protocol_type", ANY, None, range(5, MANY), asked=of_client("GRP-060")),
    changed_field("GRP-061", "a_join_phase_is_stable", r"state, type and protocol are",
        "DescribeGroups describes a group in its join phase as Stable.",
        DescribeGroupsResponse, "groups.group_state", "PreparingRebalance", "Stable"),
    changed_field("GRP-062", "a_sync_that_waits_is_of_no_member",
        r"the sync that waits at a \w+: error is UNKNOWN_MEMBER_ID",
        "A SyncGroup that waits returns UNKNOWN_MEMBER_ID when the members change.",
        SyncGroupResponse, "error_code",
        ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.UNKNOWN_MEMBER_ID, asked=of_client("GRP-062")),
    rule("GRP-063", r"says REBALANCE_IN_PROGRESS", InstancesKeepTheirProtocols),
    states_are_compared_by_case,
    rule("GRP-065", r"leader and members are", LeadersThatComeBackLead),
    _private(
        changed_field("GRP-008", "the_least_session_is_too_short",
            r"session timeout of 2000 ms: error is INVALID_SESSION_TIMEOUT",
            "JoinGroup refuses a session timeout of exactly the lowest limit.",
            JoinGroupResponse, "error_code", ANY, ErrorCode.INVALID_SESSION_TIMEOUT,
            requested={"session_timeout_ms": LEAST_SESSION_MS}, asked=of_client("GRP-008"))
    ),
]  # fmt: skip
