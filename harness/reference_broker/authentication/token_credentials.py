"""Delegation tokens as ways in by SCRAM: the password is the HMAC in base64 (KIP-48)."""

import base64

from harness.reference_broker.authentication.new_credential import new_credential
from harness.reference_broker.authentication.scram_exchange import TokenCredential
from harness.reference_broker.state.credentials.delegation_tokens import DelegationTokens
from harness.reference_broker.state.credentials.scram_credentials import ScramMechanism
from harness.reference_broker.wall_clock import now_ms
from harness.security.scram_keys import LEAST_ITERATIONS


def token_credential(
    tokens: DelegationTokens, token_id: str, mechanism: ScramMechanism
) -> TokenCredential | None:
    """Return the way in of a token, also of an expired one; None of an unknown one."""
    token = tokens.get(token_id)
    if token is None or not tokens.is_enabled:
        return None
    password = base64.b64encode(tokens.hmac_of(token_id)).decode()
    return TokenCredential(
        token.owner.partition(":")[2],
        new_credential(mechanism, password, LEAST_ITERATIONS),
        lambda: token.expires_at - now_ms(),
    )
