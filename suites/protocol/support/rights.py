"""Rights of users: the operations of Kafka's ACLs, and the ACLs that give a user one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from harness.conformance.outcome import NotApplicable
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.bindings import Binding, creation, filter_fields
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import credentials_of

NEEDED = "a broker with an authorizer"
CLUSTER_NAME = "kafka-cluster"


class Right(NamedTuple):
    """An operation on one resource; ``name`` of the cluster is ``CLUSTER_NAME``."""

    operation: Operation
    resource: Resource
    name: str = CLUSTER_NAME


def require_authorizer(broker: BrokerUnderTest) -> None:
    """Raises NotApplicable without SASL, and where no right is needed: SECURITY_DISABLED, or no
    ACLs at all."""
    credentials_of(broker)
    require_acls(broker)


def require_acls(broker: BrokerUnderTest) -> None:
    """Raises NotApplicable as above, whatever the listener is."""
    if not has_authorizer(broker):
        raise NotApplicable(NEEDED)


def has_authorizer(broker: BrokerUnderTest) -> bool:
    """True if requests need rights: the broker knows ACLs, and their APIs are not disabled."""
    if not broker.advertised("DescribeAcls"):
        return False
    return broker.ask(acls_of("User:kc")).error_code != ErrorCode.SECURITY_DISABLED


def give(broker: BrokerUnderTest, principal: str, rights: Sequence[Right]) -> None:
    """Give a principal rights, and wait until the broker knows them."""
    if not rights:
        return
    before = count(broker, principal)
    request = CreateAclsRequest(creations=creations(principal, rights))
    for result in broker.ask(request).results:
        expect_error(result.error_code, ErrorCode.NONE, "CreateAcls")
    wanted = before + len(rights)
    broker.eventually(lambda: count(broker, principal) == wanted, f"{principal} has its rights")


def take_all(broker: BrokerUnderTest, principal: str) -> None:
    """Take all rights from a principal, and wait until the broker knows it."""
    request = DeleteAclsRequest(filters=[deletion(principal)])
    for result in broker.ask(request).filter_results:
        expect_error(result.error_code, ErrorCode.NONE, "DeleteAcls")
    broker.eventually(lambda: not count(broker, principal), f"{principal} has no right")


def creations(principal: str, rights: Sequence[Right]) -> list[CreateAclsRequest.AclCreation]:
    """Return the ACLs that give these rights, from every host."""
    return [
        creation(Binding(one.name, principal, one.operation, resource=one.resource))
        for one in rights
    ]


def deletion(principal: str) -> DeleteAclsRequest.DeleteAclsFilter:
    """Return the filter of all ACLs of a principal."""
    return DeleteAclsRequest.DeleteAclsFilter(**filter_fields(principal=principal))


def acls_of(principal: str) -> DescribeAclsRequest:
    """Return the request for all ACLs of a principal."""
    return DescribeAclsRequest(**filter_fields(principal=principal))


def count(broker: BrokerUnderTest, principal: str) -> int:
    """Return how many ACLs of this principal the broker has applied."""
    answer = broker.ask(acls_of(principal))
    expect_error(answer.error_code, ErrorCode.NONE, "DescribeAcls")
    return sum(len(resource.acls) for resource in answer.resources)
