"""SyncGroup: API key 14, versions 0 to 5.

Behaviour
- The answer waits until the leader has sent the assignment; each member gets its own part.
- In a stable group a member gets its part again.
- An assignment is sent after all replicas in sync of the group's partition have it; if they do not
  have it within offsets.commit.timeout.ms, the sync fails and the group rebalances.

Version notes
- v1   throttle time
- v3   static members (KIP-345)
- v5   protocol type and name are required, and have to be the group's (KIP-559)
"""

from harness.base.ids import GroupId, MemberId, Offset
from harness.codec.error_code import ErrorCode
from harness.codec.messages import SyncGroupRequest, SyncGroupResponse
from harness.reference_broker.effects import GroupMoved
from harness.reference_broker.handlers.group_coordinator import (
    coordinator_error,
    problem_with_group,
)
from harness.reference_broker.handlers.outcome import (
    Answer,
    Outcome,
    PurgatoryWait,
    RequestContext,
    WakeKey,
)
from harness.reference_broker.state.groups.group_member import Parked, Synced
from harness.reference_broker.state.groups.group_membership import Caller, WantedSync, sync

API_KEY = 14
_FIRST_VERSION_WITH_PROTOCOL = 5
_LATE_IS_UNAVAILABLE = (4, 0)  # the coordinator of KIP-848; before, GroupMetadataManager.storeGroup


def handle(request: SyncGroupRequest, context: RequestContext) -> Outcome:
    """Store the leader's assignment; wait for the member's own part."""
    error = _problem_with(request, context)
    if error is not ErrorCode.NONE:
        return Answer(_response(Synced(error)))
    caller = Caller(
        request.group_id,
        MemberId(request.member_id),
        request.generation_id,
        request.group_instance_id,
    )
    parts = {each.member_id: each.assignment for each in request.assignments}
    wanted = WantedSync(caller, request.protocol_type, request.protocol_name, parts)
    parked = sync(context.state.groups, wanted, context.now())
    return _answer_kept(caller, parked, context)


def _answer_kept(
    caller: Caller, parked: Parked[Synced], context: RequestContext
) -> Answer | PurgatoryWait:
    """Answer when all replicas in sync have the generation of the member's part."""
    group_id = GroupId(caller.group_id)
    partition = context.state.group_log.partition_of(group_id)
    required: list[Offset] = []

    def attempt() -> SyncGroupResponse | None:
        synced = parked.outcome
        if synced is None or synced.error is not ErrorCode.NONE or partition is None:
            return None if synced is None else _response(synced)
        required[:] = required or [partition.log.end_offset]
        outcome = partition.replicated(required[0])
        if outcome is None:
            return _response(Synced(_late_error(context))) if _is_lost(caller, context) else None
        return _response(
            synced if outcome is ErrorCode.NONE else Synced(coordinator_error(outcome))
        )

    context.effects.append(GroupMoved(group_id))
    now = attempt()
    if now is not None:
        return Answer(now)
    keys: set[WakeKey] = {group_id}
    if partition is not None:
        keys.add((partition.topic_id, partition.index))
    return PurgatoryWait(frozenset(keys), None, attempt, None)


def _is_lost(caller: Caller, context: RequestContext) -> bool:
    group = context.state.groups.find(caller.group_id)
    return group is not None and group.lost_generation == caller.generation


def _late_error(context: RequestContext) -> ErrorCode:
    is_unavailable = context.state.like.since(*_LATE_IS_UNAVAILABLE)
    return (
        ErrorCode.COORDINATOR_NOT_AVAILABLE if is_unavailable else ErrorCode.REBALANCE_IN_PROGRESS
    )


def _problem_with(request: SyncGroupRequest, context: RequestContext) -> ErrorCode:
    says_protocol = request.protocol_type is not None and request.protocol_name is not None
    if context.api_version >= _FIRST_VERSION_WITH_PROTOCOL and not says_protocol:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return problem_with_group(request.group_id, context)


def _response(synced: Synced) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=synced.error,
        protocol_type=synced.protocol_type,
        protocol_name=synced.protocol_name,
        assignment=synced.assignment,
    )
