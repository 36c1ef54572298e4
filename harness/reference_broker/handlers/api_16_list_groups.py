"""ListGroups: API key 16, versions 0 to 5.

Behaviour
- Lists all groups of this coordinator; an empty filter filters nothing. A client that may not
  describe the cluster gets the groups that it may describe.

Version notes
- v1   throttle time
- v4   states, and a case-insensitive filter for them (KIP-518)
- v5   types, and a filter for them (KIP-848); there is one type here
"""

from harness.codec.messages import ListGroupsRequest, ListGroupsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.rights import DESCRIBE, GROUP, may, may_cluster

API_KEY = 16
_CLASSIC = "classic"


def handle(request: ListGroupsRequest, context: RequestContext) -> Answer:
    """List the groups that pass both filters."""
    states = {state.lower().strip() for state in request.states_filter}
    lists_all = may_cluster(context, DESCRIBE)
    types = {kind.lower() for kind in request.types_filter}
    if types and _CLASSIC not in types:
        return Answer(ListGroupsResponse())
    return Answer(
        ListGroupsResponse(
            groups=[
                ListGroupsResponse.ListedGroup(
                    group_id=group.group_id,
                    protocol_type=group.protocol_type or "",
                    group_state=group.state.value,
                    group_type=_CLASSIC,
                )
                for group in context.state.groups.shown()
                if (not states or group.state.value.lower() in states)
                and (lists_all or may(context, DESCRIBE, GROUP, group.group_id))
            ]
        )
    )
