"""OffsetDelete: API key 47, versions 0 to 0.

Behaviour
- A group with an empty name is invalid. No group can be joined here, so no other is found.
- Before the groups' internal topic exists this node is no coordinator.

Not done
- Groups.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetDeleteRequest, OffsetDeleteResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.topic_names import GROUP_METADATA_TOPIC

API_KEY = 47


def handle(request: OffsetDeleteRequest, context: RequestContext) -> Answer:
    """Refuse for the whole group; then no topic is answered for."""
    return Answer(OffsetDeleteResponse(error_code=_problem_with(request.group_id, context)))


def _problem_with(group_id: str, context: RequestContext) -> ErrorCode:
    if not group_id:
        return ErrorCode.INVALID_GROUP_ID
    if context.state.cluster.named(GROUP_METADATA_TOPIC) is None:
        return ErrorCode.NOT_COORDINATOR
    return ErrorCode.GROUP_ID_NOT_FOUND
