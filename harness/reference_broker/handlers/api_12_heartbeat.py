"""Heartbeat: API key 12, versions 0 to 4.

Behaviour
- Renews the member's session; after REBALANCE_IN_PROGRESS the member joins again. Before Kafka 2.3
  a member gets that too while the group waits for its leader, in any generation.

Version notes
- v1   throttle time
- v3   static members (KIP-345)
"""

from harness.base.ids import MemberId
from harness.codec.error_code import ErrorCode
from harness.codec.messages import HeartbeatRequest, HeartbeatResponse
from harness.reference_broker.handlers.group_coordinator import problem_with_group
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.groups.group_membership import Caller, heartbeat
from harness.reference_broker.state.groups.group_states import GroupState

API_KEY = 12
_GENERATION_IS_FIRST = (2, 3)  # KIP-345; before, the state (class GroupCoordinator)


def handle(request: HeartbeatRequest, context: RequestContext) -> Answer:
    """Renew a member's session."""
    error = problem_with_group(request.group_id, context)
    caller = Caller(
        request.group_id,
        MemberId(request.member_id),
        request.generation_id,
        request.group_instance_id,
    )
    if error is ErrorCode.NONE:
        error = _problem_before(caller, context)
    if error is ErrorCode.NONE:
        error = heartbeat(context.state.groups, caller, context.now())
    return Answer(HeartbeatResponse(error_code=error))


def _problem_before(caller: Caller, context: RequestContext) -> ErrorCode:
    group = context.state.groups.find(caller.group_id)
    if group is None or context.state.like.since(*_GENERATION_IS_FIRST):
        return ErrorCode.NONE
    waits = group.state is GroupState.COMPLETING_REBALANCE and caller.member_id in group.members
    return ErrorCode.REBALANCE_IN_PROGRESS if waits else ErrorCode.NONE
