"""DescribeGroups: API key 15, versions 0 to 6.

Behaviour
- A group that does not exist has the state Dead, and no error before v6.
- Protocol and metadata are returned for a stable group only; before Kafka 4.0, assignments too.

Version notes
- v1   throttle time
- v3   operations that the client may do (KIP-430)
- v4   static members (KIP-345)
- v6   GROUP_ID_NOT_FOUND with a message (KIP-1043)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeGroupsRequest, DescribeGroupsResponse
from harness.reference_broker.handlers.authorized_operations import NOT_ASKED, group_operations
from harness.reference_broker.handlers.group_coordinator import problem_with_coordinator
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_member import Member
from harness.reference_broker.state.groups.group_states import GroupState

API_KEY = 15
_FIRST_VERSION_WITH_NOT_FOUND = 6
_PARTS_ARE_ALWAYS_TOLD = (4, 0)  # the coordinator of KIP-848
_EACH_IS_ANSWERED = (2, 3)  # before, a map of groups (class KafkaApis)
_NAMES_STATE_ANEW = (1, 1)  # before, class GroupMetadata names the state AwaitingSync
_OLD_NAMES = {GroupState.COMPLETING_REBALANCE: "AwaitingSync"}
_Described = DescribeGroupsResponse.DescribedGroup


def handle(request: DescribeGroupsRequest, context: RequestContext) -> Answer:
    """Describe each group that is named."""
    once = not context.state.like.since(*_EACH_IS_ANSWERED)
    asked = list(dict.fromkeys(request.groups)) if once else request.groups
    groups = [_described(group_id, context) for group_id in asked]
    if request.include_authorized_operations:
        for described in groups:
            if described.error_code == ErrorCode.NONE:
                described.authorized_operations = group_operations(described.group_id, context)
    return Answer(DescribeGroupsResponse(groups=groups))


def _described(group_id: str, context: RequestContext) -> _Described:
    error = problem_with_coordinator(group_id, context)
    if error is not ErrorCode.NONE:
        return _Described(group_id=group_id, error_code=error, authorized_operations=NOT_ASKED)
    group = context.state.groups.find_shown(group_id)
    if group is None:
        return _missing(group_id, context.api_version)
    is_stable = group.state is GroupState.STABLE
    tells_parts = is_stable or context.state.like.since(*_PARTS_ARE_ALWAYS_TOLD)
    return _Described(
        group_id=group_id,
        group_state=_name_of(group.state, context),
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if is_stable else "",
        members=[_member(group, member, tells_parts) for member in group.members.values()],
        authorized_operations=NOT_ASKED,
    )


def _name_of(state: GroupState, context: RequestContext) -> str:
    is_new = context.state.like.since(*_NAMES_STATE_ANEW)
    return state.value if is_new else _OLD_NAMES.get(state, state.value)


def _missing(group_id: str, version: int) -> _Described:
    described = _Described(
        group_id=group_id,
        group_state=GroupState.DEAD.value,
        authorized_operations=NOT_ASKED,
    )
    if version >= _FIRST_VERSION_WITH_NOT_FOUND:
        described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        described.error_message = f"Group {group_id} not found."
    return described


def _member(
    group: Group, member: Member, tells_parts: bool
) -> DescribeGroupsResponse.DescribedGroupMember:
    is_stable = group.state is GroupState.STABLE
    return DescribeGroupsResponse.DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata(group.protocol_name) if is_stable else b"",
        member_assignment=member.assignment if tells_parts else b"",
    )
