"""Defects of area SASL, and of ApiVersions before an authentication.

The broker that they strike has a SASL_PLAINTEXT listener: a relay reads no TLS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterUserScramCredentialsResponse,
    ApiVersionsResponse,
    DescribeUserScramCredentialsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.conn import NOT_CLOSED
from labs.defects.defect import error_answer, rule
from labs.defects.edited_answer import answers
from suites.protocol.authentication.test_frame_sizes import LIMIT_BYTES

ACCEPTED = r"error is NONE"
UNKNOWN = b"-unknown"


class ARequestIsAnsweredBeforeAuthentication(FrameRule):
    """The broker answers Metadata of a client that is not authenticated, with an error."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [error_answer(seen)] if seen.api is api_named("Metadata") else []


class AnotherMechanismRenewsTheSession(FrameRule):
    """The broker answers the first token of another mechanism than the session began with."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [error_answer(seen)] if seen.api is api_named("SaslAuthenticate") else []


class LargeFramesAreAnsweredBeforeAuthentication(FrameRule):
    """The broker answers a frame above the limit of the authentication with an error."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [error_answer(seen)] if len(seen.payload) > LIMIT_BYTES else []


@answers("SASL-005", r"the texts show which users exist")
def plain_shows_unknown_users(
    request: SaslAuthenticateRequest, answer: SaslAuthenticateResponse
) -> None:
    """A refusal of PLAIN names the unknown user as the reason."""
    if UNKNOWN in request.auth_bytes and b"\0" in request.auth_bytes:
        answer.error_message = "Authentication failed: Unknown user"


@answers("SASL-006", ACCEPTED)
def an_empty_token_is_accepted(
    request: SaslAuthenticateRequest, answer: SaslAuthenticateResponse
) -> None:
    """PLAIN accepts a token without any part."""
    if not request.auth_bytes:
        answer.error_code, answer.error_message = ErrorCode.NONE, None


@answers("SASL-007", r"signature is wrong")
def the_broker_signs_with_another_key(answer: SaslAuthenticateResponse) -> None:
    """SCRAM ends with a signature that the broker's key does not make."""
    if bytes(answer.auth_bytes).startswith(b"v="):
        first = b"B" if answer.auth_bytes[2:3] == b"A" else b"A"
        answer.auth_bytes = b"v=" + first + bytes(answer.auth_bytes[3:])


@answers("SASL-008", r"the texts show the reason")
def scram_shows_unknown_users(
    request: SaslAuthenticateRequest, answer: SaslAuthenticateResponse
) -> None:
    """A refusal of SCRAM names the unknown user as the reason."""
    if UNKNOWN in request.auth_bytes and request.auth_bytes.startswith(b"n,,"):
        answer.error_message = "Authentication failed: Unknown user"


@answers("SASL-015", r"the challenge is b''")
def a_refused_token_gets_no_reason(answer: SaslAuthenticateResponse) -> None:
    """A token that is refused gets the empty challenge of one that is valid."""
    if bytes(answer.auth_bytes).startswith(b"{"):
        answer.auth_bytes = b""


@answers("APIV-007", r"the APIs differ from those behind the authentication")
def an_api_is_hidden_before_authentication(seen: SeenRequest, answer: ApiVersionsResponse) -> None:
    """ApiVersions lists one API less while the client is not authenticated."""
    if seen.ordinal == 0:
        del answer.api_keys[-1:]


DEFECTS = [
    rule("SASL-001", NOT_CLOSED, ARequestIsAnsweredBeforeAuthentication),
    changed_field("SASL-002", "the_handshake_lists_no_mechanism", r"the list lacks",
        "SaslHandshake of an enabled mechanism is answered without the list.",
        SaslHandshakeResponse, "mechanisms", ANY, [], where={"error_code": 0}),
    changed_field("SASL-003", "an_unknown_mechanism_is_another_error",
        r"error is ILLEGAL_SASL_STATE",
        "SaslHandshake of an unknown mechanism is answered with ILLEGAL_SASL_STATE.",
        SaslHandshakeResponse, "error_code", ErrorCode.UNSUPPORTED_SASL_MECHANISM,
        ErrorCode.ILLEGAL_SASL_STATE),
    replace(
        changed_field("SASL-004", "the_oldest_handshake_is_refused",
            r"error is ILLEGAL_SASL_STATE",
            "SaslHandshake v0 is refused, so no bare token follows.",
            SaslHandshakeResponse, "error_code", ErrorCode.NONE, ErrorCode.ILLEGAL_SASL_STATE,
            range(1)),
        also=("SASL-002",),
    ),
    plain_shows_unknown_users,
    an_empty_token_is_accepted,
    replace(the_broker_signs_with_another_key, also=("SASL-004", "SASL-012")),
    scram_shows_unknown_users,
    replace(
        changed_field("SASL-010", "the_life_of_a_session_is_longer", r"60000 ms",
            "SaslAuthenticate returns a longer life than the session has.",
            SaslAuthenticateResponse, "session_lifetime_ms", 3_000, 60_000),
        private=True,
    ),
    replace(rule("SASL-011", NOT_CLOSED, AnotherMechanismRenewsTheSession), private=True),
    rule("SASL-009", NOT_CLOSED, LargeFramesAreAnsweredBeforeAuthentication),
    a_refused_token_gets_no_reason,
    changed_field("SASL-012", "changed_iterations_are_not_described", r"4096 iterations",
        "A changed credential is described with the iterations from before.",
        DescribeUserScramCredentialsResponse, "results.credential_infos.iterations", 4097, 4096),
    changed_field("SASL-013", "a_user_is_changed_twice", ACCEPTED,
        "AlterUserScramCredentials accepts two changes of one user.",
        AlterUserScramCredentialsResponse, "results.error_code",
        ErrorCode.DUPLICATE_RESOURCE, ErrorCode.NONE),
    changed_field("SASL-014", "a_user_is_described_twice", ACCEPTED,
        "DescribeUserScramCredentials accepts a user that is named twice.",
        DescribeUserScramCredentialsResponse, "results.error_code",
        ErrorCode.DUPLICATE_RESOURCE, ErrorCode.NONE),
    an_api_is_hidden_before_authentication,
    changed_field("APIV-008", "versions_are_served_in_an_exchange", ACCEPTED,
        "ApiVersions behind SaslHandshake is answered without an error.",
        ApiVersionsResponse, "error_code", ErrorCode.ILLEGAL_SASL_STATE, ErrorCode.NONE),
]  # fmt: skip
