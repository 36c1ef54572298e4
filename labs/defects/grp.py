"""Defects of area GRP: joins."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes, with_body
from labs.defects.one_client import of_client

ELEVEN_DAYS_MS = 10**9
NO_GENERATION = 10**9
Join = tuple[JoinGroupRequest, JoinGroupResponse]


def join_of(seen: SeenRequest, message: Message) -> Join:
    """Request and answer."""
    assert isinstance(seen.message, JoinGroupRequest)
    assert isinstance(message, JoinGroupResponse)
    return seen.message, message


class SeenInstances:
    """The static members that have joined through a proxy, by group and instance id."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def comes_back(self, request: JoinGroupRequest) -> bool:
        """Note the join; return whether a static member that was seen has lost its member id."""
        if request.group_instance_id is None:
            return False
        instance = (request.group_id, request.group_instance_id)
        was_seen = instance in self._seen
        self._seen.add(instance)
        return was_seen and not request.member_id


class EditsJoins(FrameRule):
    """Pass every answer to a JoinGroup through ``_tell``, which may change it."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, JoinGroupRequest):
            return [payload]
        return [edited(seen, payload, self._tell)]

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        raise NotImplementedError


class TheLastProtocolIsTold(EditsJoins):
    """The leader receives each member's metadata for the protocol that it named last."""

    def __init__(self) -> None:
        self.last: dict[str, bytes] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if request.protocols and answer.member_id:
            self.last[answer.member_id] = bytes(request.protocols[-1].metadata)
        for entry in answer.members:
            entry.metadata = self.last.get(entry.member_id, entry.metadata)


@takes("GRP-004", r"'a' is chosen, expected 'b'")
def protocols_are_kept_by_name(message: JoinGroupRequest) -> None:
    """The broker sorts a member's protocols by name and ignores its preference."""
    message.protocols.sort(key=lambda protocol: protocol.name)


@takes("GRP-004", r"'b' is chosen, expected 'a'")
def first_choices_alone_are_votes(message: JoinGroupRequest) -> None:
    """A member prefers no protocol if not all members have its first one."""
    first, *others = message.protocols
    if first.name in ("c", "d") and others:
        message.protocols = [first, *reversed(others)]


def _names_a_protocol(request: JoinGroupRequest) -> bool:
    return bool(request.protocol_type and request.protocols)


@answers("GRP-005", r"other (type|protocols).*: error is UNKNOWN_MEMBER_ID")
def who_does_not_fit_is_unknown(request: JoinGroupRequest, answer: JoinGroupResponse) -> None:
    """The broker answers another type or other protocols with UNKNOWN_MEMBER_ID."""
    inconsistent = answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if inconsistent and _names_a_protocol(request):
        answer.error_code = ErrorCode.UNKNOWN_MEMBER_ID


@answers("GRP-006", r"no (type|protocols): error is NONE")
def a_group_without_protocol_is_made(request: JoinGroupRequest, answer: JoinGroupResponse) -> None:
    """The broker accepts a first member that names no type or no protocol."""
    if not _names_a_protocol(request):
        answer.error_code = ErrorCode.NONE


@answers("GRP-008", r"1000000000 ms: error is NONE")
def sessions_may_be_long(request: JoinGroupRequest, answer: JoinGroupResponse) -> None:
    """The broker refuses a session timeout only if it is too short."""
    if request.session_timeout_ms >= ELEVEN_DAYS_MS:
        answer.error_code = ErrorCode.NONE


def _has_id(seen: SeenRequest) -> bool:
    """True for a JoinGroup with a member id."""
    return isinstance(seen.message, JoinGroupRequest) and seen.message.member_id != ""


class NobodyNewNoGeneration(EditsJoins):
    """The broker keeps the generation when the only member joins again."""

    def __init__(self) -> None:
        self.first: dict[str, str] = {}
        self.told: dict[str, int] = {}
        self.real: dict[str, int] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, SyncGroupRequest | HeartbeatRequest):
            return seen.payload
        told, real = self.told.get(request.group_id), self.real.get(request.group_id)
        if real is None or request.generation_id not in (told, real):
            return seen.payload
        request.generation_id = real if request.generation_id == told else NO_GENERATION
        return with_body(seen, request)

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        request, answer = join_of(seen, message)
        if [entry.member_id for entry in answer.members] != [answer.member_id]:
            return
        group, generation = request.group_id, answer.generation_id
        if generation == 1:
            self.told[group], self.first[group] = 1, answer.member_id
        elif self.first.get(group) == answer.member_id:
            self.real[group], answer.generation_id = generation, self.told[group]


class WhoComesAgainLeads(EditsJoins):
    """A member that joins again without a rebalance receives itself as the leader."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def _tell(self, seen: SeenRequest, message: Message) -> None:
        _, answer = join_of(seen, message)
        if answer.error_code != ErrorCode.NONE:
            return
        if self.known.get(answer.member_id) == answer.generation_id:
            answer.leader = answer.member_id
        self.known[answer.member_id] = answer.generation_id


@answers("GRP-029", r"the leader receives other metadata")
def metadata_is_text(request: JoinGroupRequest, answer: JoinGroupResponse) -> None:
    """The broker keeps as text the metadata of members of another type than "consumer"."""
    if request.protocol_type != "consumer":
        for entry in answer.members:
            entry.metadata = bytes(entry.metadata).decode(errors="replace").encode()


DEFECTS = [
    changed_field("GRP-001", "newcomers_are_unknown",
        r"join with.* id.*: error is UNKNOWN_MEMBER_ID",
        "The broker refuses a new member without an id as unknown, and assigns no id.",
        JoinGroupResponse, "error_code",
        ANY, ErrorCode.UNKNOWN_MEMBER_ID, requested={"member_id": ""}, asked=of_client("GRP-001")),
    rule("GRP-003", r"the leader receives as members ", TheLastProtocolIsTold),
    protocols_are_kept_by_name,
    first_choices_alone_are_votes,
    changed_field("GRP-005", "members_may_change_to_any_protocol",
        r"a member with other (type|protocols): error is NONE",
        "A member that joins again may have another type or protocols that no other member has.",
        JoinGroupResponse, "error_code",
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ErrorCode.NONE, asked=_has_id),
    who_does_not_fit_is_unknown,
    a_group_without_protocol_is_made,
    changed_field("GRP-007", "no_name_has_no_coordinator",
        r'group "": error is COORDINATOR_NOT_AVAILABLE',
        "The broker looks for the coordinator of the empty group name like for any other.",
        JoinGroupResponse, "error_code",
        ANY, ErrorCode.COORDINATOR_NOT_AVAILABLE, requested={"group_id": ""}),
    sessions_may_be_long,
    changed_field("GRP-009", "strangers_are_taken_for_newcomers",
        r"(a|no) group: error is MEMBER_ID_REQUIRED",
        "The broker returns a new member id to a client that joins with an unknown one.",
        JoinGroupResponse, "error_code", ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.MEMBER_ID_REQUIRED),
    rule("GRP-010", r"the generations are \[1, 1, 1, 1\]", NobodyNewNoGeneration),
    rule("GRP-022", r"generation, id and leader are", WhoComesAgainLeads),
    metadata_is_text,
]  # fmt: skip
