"""Listeners that serve nothing but ApiVersions before a SASL authentication."""

from __future__ import annotations

from collections.abc import Mapping

from harness.base.address import Address
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import SaslHandshakeRequest
from harness.targets.first_contact import answer, contact
from harness.targets.not_answered import Closed, NotAnswered, WantsAuthentication

NO_MECHANISM = "kafka-conformance-probe"
"""A name that no broker knows: the answer lists the mechanisms, and no authentication begins."""


def require_no_authentication(
    address: Address,
    timeout_ms: float,
    ranges: Mapping[int, tuple[int, int]],
    problem: Closed,
) -> None:
    """Raises WantsAuthentication where SASL is the cause of a close.

    A listener without SASL answers SaslHandshake with ILLEGAL_SASL_STATE, one with SASL lists its
    mechanisms (KIP-43).

    Args:
        ranges: the advertised versions by API key.
        problem: the close in place of an answer to another API than ApiVersions.
    """
    handshake = api_named("SaslHandshake")
    lowest, highest = ranges.get(handshake.key, (0, -1))
    version = min(highest, handshake.valid_versions.highest)
    if version < lowest:
        return
    try:
        with contact(address, timeout_ms) as connection:
            request = SaslHandshakeRequest(mechanism=NO_MECHANISM)
            response = answer(connection, request, version)
    except NotAnswered:
        return
    if response.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        return
    mechanisms = ", ".join(response.mechanisms) or "none listed"
    raise WantsAuthentication(
        f"the listener wants SASL authentication (mechanisms: {mechanisms}): it answers "
        "ApiVersions and SaslHandshake, and closes the connection at other requests"
    ) from problem
