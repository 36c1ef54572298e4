"""CreateDelegationToken: API key 38, versions 1 to 3.

Behaviour (KIP-48)
- A client that is not authenticated, or is so by a token, gets the error
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.
- Renewers are users: another type of principal gets INVALID_PRINCIPAL_TYPE.
- Without `delegation.token.secret.key` the answer is DELEGATION_TOKEN_AUTH_DISABLED.
- A life of 0 or less is the longest one, as is a life that is longer.

Version notes
- v2   compact fields (KIP-482)
- v3   a token for another owner, with the right CREATE_TOKENS to that user (KIP-373)
"""

import base64

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.token_requests import (
    FIRST_WITH_REQUESTER,
    NO_TIME,
    failed_at,
    principal_of,
)
from harness.reference_broker.state.credentials.delegation_tokens import (
    KIND_OF_USERS,
    DelegationToken,
)
from harness.reference_broker.state.randomness import random_uuid

API_KEY = 38
_Response = CreateDelegationTokenResponse


def handle(request: CreateDelegationTokenRequest, context: RequestContext) -> Answer:
    """Create a token (class DelegationTokenControlManager, createDelegationToken)."""
    owner = principal_of(context)
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            return Answer(_Response(error_code=ErrorCode.UNKNOWN_SERVER_ERROR))
        owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    error = _problem_of(request, owner, context)
    if error is not None:
        return _refused(error, owner, NO_TIME, context)
    if not context.state.delegation_tokens.is_enabled:
        disabled = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        return _refused(disabled, owner, failed_at(context), context)
    return _created(request, owner, context)


def _problem_of(
    request: CreateDelegationTokenRequest, owner: str, context: RequestContext
) -> ErrorCode | None:
    if not context.may_ask_for_tokens:
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    is_own = owner == principal_of(context)
    if not is_own and not rights.may(context, rights.CREATE_TOKENS, rights.USER, owner):
        return ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    if any(each.principal_type != KIND_OF_USERS for each in request.renewers):
        return ErrorCode.INVALID_PRINCIPAL_TYPE
    return None


def _created(request: CreateDelegationTokenRequest, owner: str, context: RequestContext) -> Answer:
    tokens, now = context.state.delegation_tokens, context.now()
    wanted_ms, longest_ms = request.max_lifetime_ms, tokens.limits.max_life_ms
    ends_at = now + (min(wanted_ms, longest_ms) if wanted_ms > 0 else longest_ms)
    token = DelegationToken(
        _new_id(context),
        owner,
        principal_of(context),
        tuple(f"{each.principal_type}:{each.principal_name}" for each in request.renewers),
        issued_at=now,
        ends_at=ends_at,
        expires_at=min(ends_at, now + tokens.limits.renewal_ms),
    )
    context.state.change_metadata([token.as_record()], now)
    answer = _named(owner, token.requester, context)
    answer.issue_timestamp_ms = token.issued_at
    answer.expiry_timestamp_ms = token.expires_at
    answer.max_timestamp_ms = token.ends_at
    answer.token_id, answer.hmac = token.token_id, tokens.hmac_of(token.token_id)
    return Answer(answer)


def _new_id(context: RequestContext) -> str:
    unique = random_uuid(context.randomness).bytes
    return base64.urlsafe_b64encode(unique).decode().rstrip("=")


def _refused(error: ErrorCode, owner: str, at: int, context: RequestContext) -> Answer:
    answer = _named(owner, principal_of(context), context)
    answer.error_code = error
    answer.issue_timestamp_ms = answer.expiry_timestamp_ms = answer.max_timestamp_ms = at
    return Answer(answer)


def _named(owner: str, requester: str, context: RequestContext) -> _Response:
    kind, _, name = owner.partition(":")
    answer = _Response(principal_type=kind, principal_name=name)
    if context.api_version >= FIRST_WITH_REQUESTER:
        kind, _, name = requester.partition(":")
        answer.token_requester_principal_type = kind
        answer.token_requester_principal_name = name
    return answer
