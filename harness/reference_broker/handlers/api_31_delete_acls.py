"""DeleteAcls: API key 31, versions 1 to 3.

Behaviour
- Each filter has a result with the entries that it selected; an entry that two filters select is
  in both results.
- Without an authorizer each result is SECURITY_DISABLED.
- With a ZooKeeper an entry is in the first of these results alone.
- A filter with the value UNKNOWN closes the connection; any other number that has no meaning is
  INVALID_REQUEST, with a ZooKeeper it selects nothing.

Version notes
- v0   selects literal patterns alone
- v1   the type of pattern (KIP-290)
- v2   compact fields (KIP-482)
- v3   resources of type user (KIP-373)

Not done
- A request that removes more than 10,000 entries is not refused.
"""

from uuid import UUID

from harness.codec.messages import (
    DeleteAclsRequest,
    DeleteAclsResponse,
    RemoveAccessControlEntryRecord,
)
from harness.reference_broker.handlers.acl_requests import (
    DISABLED,
    UNKNOWN_VALUE,
    filter_of,
    filter_problem,
    has_unknown,
    unknown_closes,
)
from harness.reference_broker.handlers.outcome import Answer, CloseConnection, RequestContext
from harness.reference_broker.state.acls.acl import Acl, AclFilter

API_KEY = 31
_Result = DeleteAclsResponse.DeleteAclsFilterResult
_Removed = DeleteAclsResponse.DeleteAclsMatchingAcl


def handle(request: DeleteAclsRequest, context: RequestContext) -> Answer | CloseConnection:
    """Remove the entries (class AclControlManager, deleteAcls)."""
    filters = [filter_of(each) for each in request.filters]
    if any(has_unknown(each) for each in filters) and unknown_closes(context):
        return CloseConnection(UNKNOWN_VALUE)
    if context.state.authorizer is None:
        said = "No Authorizer is configured."
        disabled = [_Result(error_code=DISABLED, error_message=said) for _ in filters]
        return Answer(DeleteAclsResponse(filter_results=disabled))
    gone: dict[UUID, Acl] = {}
    has_zookeeper = context.state.like.keeps_topics_in_zookeeper
    result = _result_with_zookeeper if has_zookeeper else _result
    results = [result(each, gone, context) for each in filters]
    records = [RemoveAccessControlEntryRecord(id=acl_id) for acl_id in gone]
    context.state.change_metadata(records, context.now())
    return Answer(DeleteAclsResponse(filter_results=results))


def _result(wanted: AclFilter, gone: dict[UUID, Acl], context: RequestContext) -> _Result:
    problem = filter_problem(wanted)
    if problem is not None:
        return _Result(error_code=problem[0], error_message=problem[1])
    found = context.state.acls.selected(wanted)
    gone.update(found)
    return _Result(error_message=None, matching_acls=[_removed(acl) for _, acl in found])


def _result_with_zookeeper(
    wanted: AclFilter, gone: dict[UUID, Acl], context: RequestContext
) -> _Result:
    """Return the entries that no filter before selects (class AclAuthorizer, deleteAcls).

    A number that has no meaning selects nothing.
    """
    found = [one for one in context.state.acls.selected(wanted) if one[0] not in gone]
    gone.update(found)
    return _Result(error_message=None, matching_acls=[_removed(acl) for _, acl in found])


def _removed(acl: Acl) -> _Removed:
    return _Removed(
        error_message=None,
        resource_type=acl.resource,
        resource_name=acl.name,
        pattern_type=acl.pattern,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
