"""The rights of the client that has sent a request. Without an authorizer it has all.

Source: class AuthHelper.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.reference_broker.state.acls.acl import CLUSTER_NAME, AclOperation, AclResource

if TYPE_CHECKING:
    from harness.reference_broker.handlers.outcome import RequestContext
    from harness.reference_broker.state.acls.authorizer import ClientIdentity

READ, WRITE, CREATE, DELETE = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.CREATE,
    AclOperation.DELETE,
)
ALTER, DESCRIBE, CLUSTER_ACTION = (
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.CLUSTER_ACTION,
)
DESCRIBE_CONFIGS, ALTER_CONFIGS = AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS
IDEMPOTENT_WRITE, TWO_PHASE_COMMIT = AclOperation.IDEMPOTENT_WRITE, AclOperation.TWO_PHASE_COMMIT
CREATE_TOKENS, DESCRIBE_TOKENS = AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS
TOPIC, GROUP, CLUSTER = AclResource.TOPIC, AclResource.GROUP, AclResource.CLUSTER
TRANSACTIONAL_ID = AclResource.TRANSACTIONAL_ID
DELEGATION_TOKEN, USER = AclResource.DELEGATION_TOKEN, AclResource.USER


def may(context: RequestContext, operation: int, resource: int, name: str) -> bool:
    """Return True if the client may do this with the resource of that name."""
    authorizer = context.state.authorizer
    return authorizer is None or authorizer.allows(client_of(context), operation, resource, name)


def may_cluster(context: RequestContext, operation: int) -> bool:
    """Return True if the client may do this with the cluster."""
    return may(context, operation, CLUSTER, CLUSTER_NAME)


def may_with_any(context: RequestContext, operation: int, resource: int) -> bool:
    """Return True if there is a resource with which the client may do this (KIP-679)."""
    authorizer = context.state.authorizer
    return authorizer is None or authorizer.allows_with_any(client_of(context), operation, resource)


def bits_of(context: RequestContext, operations: Iterable[int], resource: int, name: str) -> int:
    """Return those of the operations that the client may do, as a field of bits (KIP-430)."""
    return sum(1 << each for each in operations if may(context, each, resource, name))


def client_of(context: RequestContext) -> ClientIdentity:
    """Return the principal and the host of the client."""
    # Not at the start: most brokers have no authorizer.
    from harness.reference_broker.state.acls.authorizer import ClientIdentity

    return ClientIdentity(f"User:{context.user}", context.client_host)
