"""Defects of area DTOK: delegation tokens.

The broker that they strike has an authorizer and a SASL_PLAINTEXT listener: a relay reads no TLS.
"""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
    MetadataResponse,
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
    SaslAuthenticateResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from suites.protocol.delegation_tokens.test_changes import LEAST, RENEWAL_MS, SOON_MS
from suites.protocol.delegation_tokens.test_creation import LIFE_MS, OWN_LIFE_MS
from suites.protocol.delegation_tokens.test_description import UNKNOWN
from suites.protocol.support.tokens import HOUR_MS

ACCEPTED = r"error is NONE"


@answers("DTOK-001", r"the times are")
def a_token_is_valid_behind_its_end(
    request: CreateDelegationTokenRequest, answer: CreateDelegationTokenResponse
) -> None:
    """A token with a life of five hours expires after the end of its life."""
    if request.max_lifetime_ms == OWN_LIFE_MS:
        answer.expiry_timestamp_ms = answer.max_timestamp_ms + 1


@takes("DTOK-006", r"a period of 0 ms: \d+ ms off")
def the_least_period_is_an_hour(request: ExpireDelegationTokenRequest) -> None:
    """ExpireDelegationToken keeps the token at the least negative period."""
    if request.expiry_time_period_ms == LEAST:
        request.expiry_time_period_ms = HOUR_MS


@takes("DTOK-008", r"of an unknown user: \d+ tokens, expected 0")
def an_unknown_owner_selects_all_tokens(request: DescribeDelegationTokenRequest) -> None:
    """DescribeDelegationToken ignores a list of owners with an unknown one."""
    if any(one.principal_name.endswith(UNKNOWN) for one in request.owners or ()):
        request.owners = None


@answers("DTOK-009", r"a life of \d+ ms is \d+ ms")
def a_life_is_not_limited(
    request: CreateDelegationTokenRequest, answer: CreateDelegationTokenResponse
) -> None:
    """A token lives for a millisecond more than the longest life."""
    if request.max_lifetime_ms == LIFE_MS + 1:
        answer.max_timestamp_ms += 1


@takes("DTOK-012", r"only the valid token is described")
def only_the_end_of_life_ends_a_token(request: ExpireDelegationTokenRequest) -> None:
    """The check of expired tokens looks at the end of their life, not at their expiry time."""
    if request.expiry_time_period_ms == SOON_MS:
        request.expiry_time_period_ms = HOUR_MS


@answers("DTOK-013", r"a period of \d+ ms: \d+ ms off")
def a_renewal_is_not_limited(
    request: RenewDelegationTokenRequest, answer: RenewDelegationTokenResponse
) -> None:
    """A renewal for more than the setting is not limited by it."""
    if request.renew_period_ms == RENEWAL_MS + 1:
        answer.expiry_timestamp_ms += HOUR_MS


DEFECTS = [
    a_token_is_valid_behind_its_end,
    changed_field("DTOK-002", "a_token_makes_another", ACCEPTED,
        "CreateDelegationToken succeeds for a client that entered by a token.",
        CreateDelegationTokenResponse, "error_code",
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, ErrorCode.NONE),
    replace(changed_field("DTOK-003", "tokens_are_made_without_a_key", ACCEPTED,
        "CreateDelegationToken succeeds where there is no secret key.",
        CreateDelegationTokenResponse, "error_code",
        ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, ErrorCode.NONE), private=True),
    changed_field("DTOK-004", "a_token_enters_as_everybody", r"the renewer's topic: error is NONE",
        "A client that entered by a token sees topics that the token's owner may not describe.",
        MetadataResponse, "topics.error_code",
        ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.NONE),
    changed_field("DTOK-005", "a_stranger_renews_a_token",
        r"a renewal by a stranger: error is NONE",
        "RenewDelegationToken succeeds for a user that is neither owner nor renewer.",
        RenewDelegationTokenResponse, "error_code",
        ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, ErrorCode.NONE),
    the_least_period_is_an_hour,
    changed_field("DTOK-007", "a_group_is_a_renewer", r"a renewer of type .*: error is NONE",
        "CreateDelegationToken accepts a renewer that is no user.",
        CreateDelegationTokenResponse, "error_code",
        ErrorCode.INVALID_PRINCIPAL_TYPE, ErrorCode.NONE),
    an_unknown_owner_selects_all_tokens,
    replace(a_life_is_not_limited, private=True),
    changed_field("DTOK-010", "a_session_by_a_token_has_no_end", r"the life is 0 ms",
        "SaslAuthenticate returns no end of a session by a token.",
        SaslAuthenticateResponse, "session_lifetime_ms", ANY, 0, range(1, 99)),
    changed_field("DTOK-011", "an_expired_token_is_valid_again",
        r"an expiry of an expired token: error is NONE",
        "ExpireDelegationToken moves the expiry time of an expired token.",
        ExpireDelegationTokenResponse, "error_code",
        ErrorCode.DELEGATION_TOKEN_EXPIRED, ErrorCode.NONE,
        requested={"expiry_time_period_ms": HOUR_MS}),
    replace(only_the_end_of_life_ends_a_token, private=True),
    replace(a_renewal_is_not_limited, private=True),
    changed_field("DTOK-014", "a_token_of_another_owner_needs_no_right", ACCEPTED,
        "CreateDelegationToken makes a token for any owner.",
        CreateDelegationTokenResponse, "error_code",
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED, ErrorCode.NONE),
    replace(changed_field("DTOK-015", "a_restart_loses_the_renewers", r"the renewers are \[\]",
        "A restart loses the renewers of tokens.",
        DescribeDelegationTokenResponse, "tokens.renewers", ANY, []), private=True),
]  # fmt: skip
