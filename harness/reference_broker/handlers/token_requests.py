"""The parts of answers that requests about delegation tokens have in common."""

from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.credentials.delegation_tokens import (
    KIND_OF_USERS,
    DelegationToken,
)

NO_TIME = -1
FIRST_WITH_REQUESTER = 3
"""The version of a creation and a description that has the requester (KIP-373)."""


def principal_of(context: RequestContext) -> str:
    """Return the principal of the client."""
    return f"{KIND_OF_USERS}:{context.user}"


def failed_at(context: RequestContext) -> int:
    """Return the time beside an error of the controller: 0, with a ZooKeeper -1."""
    return NO_TIME if context.state.like.keeps_topics_in_zookeeper else 0


def change_problem(
    token: DelegationToken | None, context: RequestContext, *, expired_first: bool
) -> ErrorCode | None:
    """Return the error of a renewal or an expiry; None if the client may do it.

    `expired_first`: a client that may not change the token gets the error of an expired one too.
    """
    if token is None:
        return ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    has_expired = token.has_expired(context.now())
    if has_expired and expired_first:
        return ErrorCode.DELEGATION_TOKEN_EXPIRED
    if not token.belongs_to(principal_of(context)):
        return ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    return ErrorCode.DELEGATION_TOKEN_EXPIRED if has_expired else None
