"""Access control lists of a test: created, described and removed by requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateAclsRequest,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
)
from suites.protocol.support.acl_terms import ALLOW, ANY, EVERY_HOST, LITERAL, Operation, Resource
from suites.protocol.support.expect import expect_error

DENY, PREFIXED, MATCH, ALL = 2, 4, 2, 2
"""A permission, two types of pattern, and the operation that stands for all."""
WILDCARD = "*"
EVERY_USER = "User:*"


class Binding(NamedTuple):
    """One entry, with the resource that it is about."""

    name: str
    principal: str
    operation: int = Operation.READ
    permission: int = ALLOW
    pattern: int = LITERAL
    resource: int = Resource.TOPIC
    host: str = EVERY_HOST


def creation(binding: Binding) -> CreateAclsRequest.AclCreation:
    """Return the part of CreateAcls."""
    return CreateAclsRequest.AclCreation(
        resource_type=binding.resource,
        resource_name=binding.name,
        resource_pattern_type=binding.pattern,
        principal=binding.principal,
        host=binding.host,
        operation=binding.operation,
        permission_type=binding.permission,
    )


def create(
    broker: BrokerUnderTest, bindings: Sequence[Binding], version: int | None = None
) -> list[int]:
    """Return the error code of each."""
    request = CreateAclsRequest(creations=[creation(each) for each in bindings])
    return [result.error_code for result in broker.ask(request, version).results]


def listed(broker: BrokerUnderTest, version: int | None = None, **wanted: Any) -> set[Binding]:
    """Return the entries that a filter selects: fields of Binding, the others are any."""
    answer = broker.ask(DescribeAclsRequest(**filter_fields(version, **wanted)), version)
    expect_error(answer.error_code, ErrorCode.NONE, "DescribeAcls")
    return {
        Binding(
            resource.resource_name,
            acl.principal,
            acl.operation,
            acl.permission_type,
            resource.pattern_type,
            resource.resource_type,
            acl.host,
        )
        for resource in answer.resources
        for acl in resource.acls
    }


def removed(broker: BrokerUnderTest, version: int | None = None, **wanted: Any) -> list[Binding]:
    """Remove what a filter selects; return it as the broker does."""
    ((code, found),) = removed_by_each(broker, [wanted], version)
    expect_error(code, ErrorCode.NONE, "DeleteAcls")
    return found


def removed_by_each(
    broker: BrokerUnderTest, wanted: Sequence[Mapping[str, Any]], version: int | None = None
) -> list[tuple[int, list[Binding]]]:
    """Remove what filters select, by one request; return error code and entries of each result."""
    made = DeleteAclsRequest.DeleteAclsFilter
    request = DeleteAclsRequest(filters=[made(**filter_fields(version, **one)) for one in wanted])
    return [
        (result.error_code, [_removed(acl) for acl in result.matching_acls])
        for result in broker.ask(request, version).filter_results
    ]


def _removed(acl: DeleteAclsResponse.DeleteAclsMatchingAcl) -> Binding:
    return Binding(
        acl.resource_name,
        acl.principal,
        acl.operation,
        acl.permission_type,
        acl.pattern_type,
        acl.resource_type,
        acl.host,
    )


@contextmanager
def bound(broker: BrokerUnderTest, *bindings: Binding) -> Iterator[None]:
    """Have these entries, and no others of their principals and names, while the block runs."""
    codes = create(broker, bindings) if bindings else []
    assert not any(codes), f"CreateAcls: the error codes are {codes}"
    of = {(each.principal, each.name) for each in bindings}

    def is_there(principal: str, name: str) -> bool:
        wanted = {one for one in bindings if (one.principal, one.name) == (principal, name)}
        return listed(broker, principal=principal, name=name) == wanted

    broker.eventually(lambda: all(is_there(*each) for each in of), "the entries are there")
    try:
        yield
    finally:
        for principal, name in of:
            removed(broker, principal=principal, name=name)
        broker.eventually(
            lambda: not any(listed(broker, principal=who, name=name) for who, name in of),
            "the entries are gone",
        )


def filter_fields(version: int | None = None, **wanted: Any) -> dict[str, Any]:
    """Return the fields of a filter; at version 0, without types of patterns, all are literal.

    ``wanted``: fields of Binding; the others are any.
    """
    return {
        "resource_type_filter": wanted.get("resource", ANY),
        "resource_name_filter": wanted.get("name"),
        "pattern_type_filter": wanted.get("pattern", LITERAL if version == 0 else ANY),
        "principal_filter": wanted.get("principal"),
        "host_filter": wanted.get("host"),
        "operation": wanted.get("operation", ANY),
        "permission_type": wanted.get("permission", ANY),
    }
