"""CreateAcls: API key 30, versions 1 to 3.

Behaviour
- Each entry has its own result; one that is refused does not touch the others. An entry that exists
  succeeds and changes nothing.
- Without an authorizer each result is SECURITY_DISABLED.
- A value that only filters have, ANY or MATCH, makes each result UNKNOWN_SERVER_ERROR, and nothing
  is created; the value UNKNOWN closes the connection. Other numbers without a meaning are
  INVALID_REQUEST.
- Names of resources, hosts and types of principals are free text; a principal has a colon.

Version notes
- v0   patterns are literal
- v1   the type of pattern (KIP-290)
- v2   compact fields (KIP-482)
- v3   resources of type user (KIP-373)

Not done
- A request with more than 10,000 entries is not refused.
"""

from collections.abc import Callable

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateAclsRequest, CreateAclsResponse
from harness.reference_broker.handlers.acl_requests import (
    DISABLED,
    UNKNOWN_VALUE,
    Problem,
    unknown_closes,
)
from harness.reference_broker.handlers.outcome import Answer, CloseConnection, RequestContext
from harness.reference_broker.state.acls.acl import (
    ANY,
    CLUSTER_NAME,
    MATCH,
    UNKNOWN,
    Acl,
    AclOperation,
    AclPattern,
    AclPermission,
    AclResource,
)
from harness.reference_broker.state.randomness import random_uuid

API_KEY = 30
_Result = CreateAclsResponse.AclCreationResult
_ONLY_CLUSTER = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
_PROBLEMS: tuple[tuple[Callable[[Acl], bool], str], ...] = (
    (lambda it: it.resource == AclResource.CLUSTER and it.name != CLUSTER_NAME, _ONLY_CLUSTER),
    (lambda it: not it.name, "Invalid empty resource name"),
    (lambda it: it.resource not in list(AclResource), "Invalid resourceType UNKNOWN"),
    (lambda it: it.pattern not in list(AclPattern), "Invalid patternType UNKNOWN"),
    (lambda it: it.operation not in list(AclOperation), "Invalid operation UNKNOWN"),
    (lambda it: it.permission not in list(AclPermission), "Invalid permissionType UNKNOWN"),
)
"""What no entry may have, in the order of classes AclApis and AclControlManager."""
_PROBLEMS_OF_TEXTS: tuple[tuple[Callable[[Acl], bool], str], ...] = (
    (lambda it: ":" not in it.principal, "Could not parse principal: it has no colon"),
    (lambda it: not it.host, "Host pattern cannot be null or empty"),
)
_TEXTS_ARE_CHECKED = (4, 0)
_ANY_IS_READ = (2, 5)  # before, class AccessControlEntry refuses it in the reader of the request


def handle(request: CreateAclsRequest, context: RequestContext) -> Answer | CloseConnection:
    """Create the entries (class AclControlManager, createAcls)."""
    wanted = [_entry(each) for each in request.creations]
    if any(UNKNOWN in _enumerated(acl) for acl in wanted) and unknown_closes(context):
        return CloseConnection(UNKNOWN_VALUE)
    if any(ANY in (acl.operation, acl.permission) for acl in wanted) and _any_closes(context):
        return CloseConnection("an access control entry with the value ANY")
    if context.state.authorizer is None:
        return Answer(_same_for_all(wanted, DISABLED, "No Authorizer is configured."))
    if any(ANY in _enumerated(acl) or acl.pattern == MATCH for acl in wanted):
        return Answer(_same_for_all(wanted, ErrorCode.UNKNOWN_SERVER_ERROR, None))
    problems = [_problem_of(acl, context) for acl in wanted]
    right = [acl for acl, problem in zip(wanted, problems, strict=True) if problem is None]
    new = [acl for acl in dict.fromkeys(right) if acl not in context.state.acls]
    records = [acl.as_record(random_uuid(context.randomness)) for acl in new]
    context.state.change_metadata(records, context.now())
    return Answer(CreateAclsResponse(results=[_result(problem) for problem in problems]))


def _any_closes(context: RequestContext) -> bool:
    return not context.state.like.since(*_ANY_IS_READ)


def _entry(asked: CreateAclsRequest.AclCreation) -> Acl:
    return Acl(
        asked.resource_type,
        asked.resource_name,
        asked.resource_pattern_type,
        asked.principal,
        asked.host,
        asked.operation,
        asked.permission_type,
    )


def _enumerated(acl: Acl) -> tuple[int, int, int, int]:
    return acl.resource, acl.pattern, acl.operation, acl.permission


def _problem_of(acl: Acl, context: RequestContext) -> Problem | None:
    checks = _PROBLEMS
    if context.state.like.since(*_TEXTS_ARE_CHECKED):
        checks += _PROBLEMS_OF_TEXTS
    said = next((text for is_wrong, text in checks if is_wrong(acl)), None)
    return None if said is None else (ErrorCode.INVALID_REQUEST, said)


def _result(problem: Problem | None) -> _Result:
    if problem is None:
        return _Result()
    return _Result(error_code=problem[0], error_message=problem[1])


def _same_for_all(wanted: list[Acl], error: ErrorCode, said: str | None) -> CreateAclsResponse:
    return CreateAclsResponse(
        results=[_Result(error_code=error, error_message=said) for _ in wanted]
    )
