"""DescribeDelegationToken: API key 41, versions 1 to 3.

Behaviour (KIP-48)
- Each broker answers. Without a list of owners: all tokens; with an empty list: none.
- Tokens are listed that the client owns or may renew, those that it may DESCRIBE, and those of
  users of which it may DESCRIBE_TOKENS. A named owner selects the tokens that it may renew, too.

Version notes
- v2   compact fields (KIP-482)
- v3   the requester of a token (KIP-373)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.token_requests import FIRST_WITH_REQUESTER, principal_of
from harness.reference_broker.state.credentials.delegation_tokens import DelegationToken

API_KEY = 41
_Token = DescribeDelegationTokenResponse.DescribedDelegationToken
_Renewer = DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer


def handle(request: DescribeDelegationTokenRequest, context: RequestContext) -> Answer:
    """Describe tokens (class KafkaApis, handleDescribeTokensRequest)."""
    if not context.may_ask_for_tokens:
        return _refused(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    tokens = context.state.delegation_tokens
    if not tokens.is_enabled:
        return _refused(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    owners = None
    if request.owners is not None:
        owners = {f"{each.principal_type}:{each.principal_name}" for each in request.owners}
    found = [
        _described(token, tokens.hmac_of(token.token_id), context)
        for token in tokens.all()
        if (owners is None or any(map(token.belongs_to, owners))) and _may_see(token, context)
    ]
    return Answer(DescribeDelegationTokenResponse(tokens=found))


def _may_see(token: DelegationToken, context: RequestContext) -> bool:
    return (
        token.belongs_to(principal_of(context))
        or rights.may(context, rights.DESCRIBE, rights.DELEGATION_TOKEN, token.token_id)
        or rights.may(context, rights.DESCRIBE_TOKENS, rights.USER, token.owner)
    )


def _described(token: DelegationToken, secret: bytes, context: RequestContext) -> _Token:
    kind, _, name = token.owner.partition(":")
    pairs = [renewer.partition(":") for renewer in token.renewers]
    described = _Token(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=token.issued_at,
        expiry_timestamp=token.expires_at,
        max_timestamp=token.ends_at,
        token_id=token.token_id,
        hmac=secret,
        renewers=[_Renewer(principal_type=kind, principal_name=name) for kind, _, name in pairs],
    )
    if context.api_version >= FIRST_WITH_REQUESTER:
        kind, _, name = token.requester.partition(":")
        described.token_requester_principal_type = kind
        described.token_requester_principal_name = name
    return described


def _refused(error: ErrorCode) -> Answer:
    return Answer(DescribeDelegationTokenResponse(error_code=error))
