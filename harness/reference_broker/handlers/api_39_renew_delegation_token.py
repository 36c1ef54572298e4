"""RenewDelegationToken: API key 39, versions 1 to 2.

Behaviour (KIP-48)
- The owner and the renewers of a token may renew it, up to the end of its life.
- A period of 0 or less is `delegation.token.expiry.time.ms`, as is a longer one. With a ZooKeeper
  only a negative period is, and a longer one counts.

Version notes
- v2   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import RenewDelegationTokenRequest, RenewDelegationTokenResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.token_requests import NO_TIME, change_problem, failed_at

API_KEY = 39


def handle(request: RenewDelegationTokenRequest, context: RequestContext) -> Answer:
    """Renew a token (class DelegationTokenControlManager, renewDelegationToken)."""
    if not context.may_ask_for_tokens:
        return _answer(NO_TIME, ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    tokens = context.state.delegation_tokens
    if not tokens.is_enabled:
        return _answer(failed_at(context), ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    has_zookeeper = context.state.like.keeps_topics_in_zookeeper
    token = tokens.with_hmac(bytes(request.hmac))
    error = change_problem(token, context, expired_first=not has_zookeeper)
    if error is not None or token is None:
        return _answer(failed_at(context), error)
    wanted_ms, usual_ms = request.renew_period_ms, tokens.limits.renewal_ms
    if has_zookeeper:
        period_ms = usual_ms if wanted_ms < 0 else wanted_ms
    else:
        period_ms = min(wanted_ms, usual_ms) if wanted_ms > 0 else usual_ms
    renewed = token.expiring(context.now() + period_ms)
    context.state.change_metadata([renewed.as_record()], context.now())
    return _answer(renewed.expires_at)


def _answer(expires_at: int, error: ErrorCode | None = None) -> Answer:
    return Answer(
        RenewDelegationTokenResponse(
            error_code=error or ErrorCode.NONE, expiry_timestamp_ms=expires_at
        )
    )
