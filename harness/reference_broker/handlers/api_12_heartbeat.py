"""Heartbeat: API key 12, versions 0 to 4.

Behaviour
- Renews the member's session; after REBALANCE_IN_PROGRESS the member joins again.

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

API_KEY = 12


def handle(request: HeartbeatRequest, context: RequestContext) -> Answer:
    """Renew a member's session."""
    error = problem_with_group(request.group_id, context)
    if error is ErrorCode.NONE:
        caller = Caller(
            request.group_id,
            MemberId(request.member_id),
            request.generation_id,
            request.group_instance_id,
        )
        error = heartbeat(context.state.groups, caller, context.now())
    return Answer(HeartbeatResponse(error_code=error))
