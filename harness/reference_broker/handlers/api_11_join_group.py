"""JoinGroup: API key 11, versions 0 to 9.

Behaviour
- The answer waits until all members have joined or the rebalance timeout is over; the first
  generation of a group waits a while for more members (KIP-134).
- A follower that joins a stable group again with the same protocols gets the same generation again.
- Only the leader gets the list of members.

Version notes
- v0   the session timeout is the rebalance timeout too
- v1   rebalance timeout (KIP-62)
- v2   throttle time
- v4   a new member first gets its id, with MEMBER_ID_REQUIRED (KIP-394)
- v5   static members (KIP-345)
- v7   protocol type; no protocol name is null, not "" (KIP-559, KAFKA-15856)
- v8   reason (KIP-800), which is not used
- v9   a static leader that comes back gets skip_assignment (KIP-814)

Not done
- Groups of the consumer protocol (KIP-848), to which a classic member could be added.
"""

from harness.base.ids import MemberId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import JoinGroupRequest, JoinGroupResponse
from harness.reference_broker.handlers.group_coordinator import (
    answer_parked,
    problem_with_coordinator,
)
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.state.groups.group_joining import WantedJoin, join
from harness.reference_broker.state.groups.group_member import Joined, Protocol
from harness.reference_broker.state.randomness import random_uuid

API_KEY = 11
_FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
_FIRST_VERSION_WITH_KNOWN_ID = 4
_FIRST_VERSION_WITH_NULL_NAME = 7
_FIRST_VERSION_WITH_SKIP = 9
_ERRORS_HAVE_NO_GENERATION = (2, 2)  # class GroupCoordinator (joinError)
_UNCHANGED = (ErrorCode.NONE, ErrorCode.UNKNOWN_SERVER_ERROR)  # class JoinGroupRequest


def handle(request: JoinGroupRequest, context: RequestContext) -> Outcome:
    """Join, and wait for the others."""
    error = _problem_with(request, context)
    if error is not ErrorCode.NONE:
        return Answer(_response(Joined(error, MemberId(request.member_id)), context))
    parked = join(context.state.groups, _wanted(request, context), context.now())
    return answer_parked(
        request.group_id, parked, lambda joined: _response(joined, context), context
    )


def _problem_with(request: JoinGroupRequest, context: RequestContext) -> ErrorCode:
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    limits = context.state.groups.limits
    shortest, longest = limits.min_session_timeout_ms, limits.max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return problem_with_coordinator(request.group_id, context)


def _wanted(request: JoinGroupRequest, context: RequestContext) -> WantedJoin:
    version = context.api_version
    has_rebalance_timeout = version >= _FIRST_VERSION_WITH_REBALANCE_TIMEOUT
    called = request.group_instance_id
    if called is None:
        called = context.client_id or ""
    protocols: dict[str, Protocol] = {}
    for each in request.protocols:
        protocols.setdefault(each.name, Protocol(each.name, each.metadata))
    return WantedJoin(
        request.group_id,
        MemberId(request.member_id),
        request.group_instance_id,
        context.client_id or "",
        f"/{context.client_host}",
        request.session_timeout_ms,
        request.rebalance_timeout_ms if has_rebalance_timeout else request.session_timeout_ms,
        request.protocol_type,
        tuple(protocols.values()),
        MemberId(f"{called}-{random_uuid(context.randomness)}"),
        version >= _FIRST_VERSION_WITH_KNOWN_ID,
        version >= _FIRST_VERSION_WITH_SKIP,
    )


def _response(joined: Joined, context: RequestContext) -> JoinGroupResponse:
    is_nullable = context.api_version >= _FIRST_VERSION_WITH_NULL_NAME
    name = joined.protocol_name or (None if is_nullable else "")
    generation = joined.generation
    if joined.error not in _UNCHANGED and not context.state.like.since(*_ERRORS_HAVE_NO_GENERATION):
        generation = 0
    return JoinGroupResponse(
        error_code=joined.error,
        generation_id=generation,
        protocol_type=joined.protocol_type,
        protocol_name=name,
        leader=joined.leader_id,
        skip_assignment=joined.skip_assignment,
        member_id=joined.member_id,
        members=[
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=entry.member_id,
                group_instance_id=entry.instance_id,
                metadata=entry.metadata,
            )
            for entry in joined.roster
        ],
    )
