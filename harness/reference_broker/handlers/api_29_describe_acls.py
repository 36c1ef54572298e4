"""DescribeAcls: API key 29, versions 1 to 3.

Behaviour
- The entries that the filter selects, by pattern; none is no error.
- Without an authorizer: SECURITY_DISABLED.
- A filter with the value UNKNOWN closes the connection; any other number that has no meaning
  selects nothing.

Version notes
- v0   selects literal patterns alone
- v1   the type of pattern (KIP-290)
- v2   compact fields (KIP-482)
- v3   resources of type user (KIP-373)
"""

from harness.codec.messages import DescribeAclsRequest, DescribeAclsResponse
from harness.reference_broker.handlers.acl_requests import (
    DISABLED,
    UNKNOWN_VALUE,
    filter_of,
    has_unknown,
    unknown_closes,
)
from harness.reference_broker.handlers.outcome import Answer, CloseConnection, RequestContext
from harness.reference_broker.state.acls.acl import Acl

API_KEY = 29
_Resource = DescribeAclsResponse.DescribeAclsResource
_Description = DescribeAclsResponse.AclDescription


def handle(request: DescribeAclsRequest, context: RequestContext) -> Answer | CloseConnection:
    """Describe the entries (class AclApis, handleDescribeAcls)."""
    wanted = filter_of(request)
    if has_unknown(wanted) and unknown_closes(context):
        return CloseConnection(UNKNOWN_VALUE)
    if context.state.authorizer is None:
        said = "No Authorizer is configured on the broker"
        return Answer(DescribeAclsResponse(error_code=DISABLED, error_message=said))
    by_pattern: dict[tuple[int, str, int], list[Acl]] = {}
    for _, acl in context.state.acls.selected(wanted):
        by_pattern.setdefault((acl.resource, acl.name, acl.pattern), []).append(acl)
    return Answer(
        DescribeAclsResponse(
            resources=[
                _Resource(
                    resource_type=resource,
                    resource_name=name,
                    pattern_type=pattern,
                    acls=[_described(acl) for acl in acls],
                )
                for (resource, name, pattern), acls in by_pattern.items()
            ]
        )
    )


def _described(acl: Acl) -> _Description:
    return _Description(
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )
