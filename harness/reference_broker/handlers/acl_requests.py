"""The parts that the requests of access control lists share."""

from __future__ import annotations

from typing import Any

from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.acls.acl import (
    ANY,
    MATCH,
    UNKNOWN,
    AclFilter,
    AclOperation,
    AclPattern,
    AclPermission,
    AclResource,
)

Problem = tuple[ErrorCode, str]
DISABLED = ErrorCode.SECURITY_DISABLED
UNKNOWN_VALUE = "an access control entry with the value UNKNOWN"
"""The reason to close the connection: the request is refused while it is read."""
_UNKNOWN_IS_REFUSED = (2, 0)
_PATTERNS = {ANY, MATCH, *AclPattern}


def unknown_closes(context: RequestContext) -> bool:
    """True if the value UNKNOWN closes the connection.

    Before 2.0 (KIP-290) it is an ordinary value to the reader of the request, and brokers without
    an authorizer say so.
    """
    return context.state.like.since(*_UNKNOWN_IS_REFUSED) or context.state.authorizer is not None


def filter_of(asked: Any) -> AclFilter:
    """Return the filter of a request: it has the same fields in both."""
    return AclFilter(
        asked.resource_type_filter,
        asked.resource_name_filter,
        asked.pattern_type_filter,
        asked.principal_filter,
        asked.host_filter,
        asked.operation,
        asked.permission_type,
    )


def has_unknown(wanted: AclFilter) -> bool:
    """Return True if a filter has the value UNKNOWN itself, with which no request is read."""
    values = (wanted.resource, wanted.pattern, wanted.operation, wanted.permission)
    return UNKNOWN in values


def filter_problem(wanted: AclFilter) -> Problem | None:
    """Return the error of a filter with a number that has no meaning (class AclControlManager)."""
    error = ErrorCode.INVALID_REQUEST
    if wanted.resource not in {ANY, *AclResource} or wanted.pattern not in _PATTERNS:
        return error, "Unknown patternFilter."
    operations, permissions = {ANY, *AclOperation}, {ANY, *AclPermission}
    if wanted.operation not in operations or wanted.permission not in permissions:
        return error, "Unknown entryFilter."
    return None
