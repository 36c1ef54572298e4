"""LeaveGroup: API key 13, versions 0 to 5.

Behaviour
- Members are removed immediately, and the others rebalance.
- A pending member, which has an id and has not joined, can leave too.

Version notes
- v0   one member, its error is the request's
- v1   throttle time
- v3   several members, each with its error; a static one also by its instance id (KIP-345)
- v5   reason (KIP-800), which is not used
"""

from harness.base.ids import GroupId, MemberId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import LeaveGroupRequest, LeaveGroupResponse
from harness.reference_broker.effects import GroupMoved
from harness.reference_broker.handlers.group_coordinator import problem_with_group
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.groups.group_membership import Leaver, leave

API_KEY = 13
_FIRST_VERSION_WITH_SEVERAL = 3


def handle(request: LeaveGroupRequest, context: RequestContext) -> Answer:
    """Remove the named members."""
    error = problem_with_group(request.group_id, context)
    if error is not ErrorCode.NONE:
        return Answer(LeaveGroupResponse(error_code=error))
    has_several = context.api_version >= _FIRST_VERSION_WITH_SEVERAL
    leavers = [Leaver(MemberId(each.member_id), each.group_instance_id) for each in request.members]
    if not has_several:
        leavers = [Leaver(MemberId(request.member_id), None)]
    errors = leave(context.state.groups, request.group_id, leavers, context.now())
    context.effects.append(GroupMoved(GroupId(request.group_id)))
    if not has_several:
        return Answer(LeaveGroupResponse(error_code=errors[0]))
    return Answer(
        LeaveGroupResponse(
            members=[
                LeaveGroupResponse.MemberResponse(
                    member_id=leaver.member_id,
                    group_instance_id=leaver.instance_id,
                    error_code=each,
                )
                for leaver, each in zip(leavers, errors, strict=True)
            ]
        )
    )
