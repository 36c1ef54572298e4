"""ExpireDelegationToken: API key 40, versions 1 to 2.

Behaviour (KIP-48)
- The owner and the renewers of a token may move its expiry time, up to the end of its life.
- A negative period removes the token at once, also an expired one.

Version notes
- v2   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    RemoveDelegationTokenRecord,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.token_requests import NO_TIME, change_problem, failed_at

API_KEY = 40
_EXPIRED_ONES_ARE_REMOVED = (3, 5)  # class DelegationTokenManager (expireToken)


def handle(request: ExpireDelegationTokenRequest, context: RequestContext) -> Answer:
    """Expire a token (class DelegationTokenControlManager, expireDelegationToken)."""
    if not context.may_ask_for_tokens:
        return _answer(NO_TIME, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    state, now = context.state, context.now()
    tokens = state.delegation_tokens
    if not tokens.is_enabled:
        return _answer(failed_at(context), ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    token = tokens.with_hmac(bytes(request.hmac))
    error = change_problem(token, context, expired_first=False)
    removes = request.expiry_time_period_ms < 0
    if error == ErrorCode.DELEGATION_TOKEN_EXPIRED and removes:
        error = None if state.like.since(*_EXPIRED_ONES_ARE_REMOVED) else error
    if error is not None or token is None:
        return _answer(failed_at(context), error)
    if removes:
        state.change_metadata([RemoveDelegationTokenRecord(token_id=token.token_id)], now)
        return _answer(now)
    expiring = token.expiring(now + request.expiry_time_period_ms)
    state.change_metadata([expiring.as_record()], now)
    return _answer(expiring.expires_at)


def _answer(expires_at: int, error: ErrorCode | None = None) -> Answer:
    return Answer(
        ExpireDelegationTokenResponse(
            error_code=error or ErrorCode.NONE, expiry_timestamp_ms=expires_at
        )
    )
