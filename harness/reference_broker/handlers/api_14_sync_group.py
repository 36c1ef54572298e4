"""SyncGroup: API key 14, versions 0 to 5.

Behaviour
- The answer waits until the leader has said who does what; each member is told its own part.
- In a stable group it is told again.

Version notes
- v1   throttle time
- v3   static members (KIP-345)
- v5   protocol type and name have to be said, and to be the group's (KIP-559)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import SyncGroupRequest, SyncGroupResponse
from harness.ids import MemberId
from harness.reference_broker.handlers.group_coordinator import answer_parked, problem_with_group
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.state.group_attendance import Caller, WantedSync, sync
from harness.reference_broker.state.group_member import Synced

API_KEY = 14
_FIRST_VERSION_WITH_PROTOCOL = 5


def handle(request: SyncGroupRequest, context: RequestContext) -> Outcome:
    """Assign as the leader, and wait for one's own part."""
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
    return answer_parked(request.group_id, parked, _response, context)


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
