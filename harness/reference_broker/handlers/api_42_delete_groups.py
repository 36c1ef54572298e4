"""DeleteGroups: API key 42, versions 0 to 3.

Behaviour
- Each group has its own result. A group with members stays; one without is deleted with its
  offsets.
- A group that is named twice counts once.
- Before Kafka 2.0 the empty group id is invalid.

Version notes
- v3   error message (KIP-1043), which is left out here
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteGroupsRequest, DeleteGroupsResponse
from harness.reference_broker.handlers.group_coordinator import (
    IDS_ARE_CHECKED,
    problem_with_coordinator,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.groups.group_states import GroupState

API_KEY = 42


def handle(request: DeleteGroupsRequest, context: RequestContext) -> Answer:
    """Delete the groups without members."""
    return Answer(
        DeleteGroupsResponse(
            results=[
                DeleteGroupsResponse.DeletableGroupResult(
                    group_id=group_id, error_code=_delete(group_id, context)
                )
                for group_id in dict.fromkeys(request.groups_names)
            ]
        )
    )


def _delete(group_id: str, context: RequestContext) -> ErrorCode:
    if not group_id and not context.state.like.since(*IDS_ARE_CHECKED):
        return ErrorCode.INVALID_GROUP_ID
    error = problem_with_coordinator(group_id, context)
    if error is not ErrorCode.NONE:
        return error
    group = context.state.groups.find(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not GroupState.EMPTY:
        return ErrorCode.NON_EMPTY_GROUP
    context.state.delete_group(group, context.now())
    return ErrorCode.NONE
