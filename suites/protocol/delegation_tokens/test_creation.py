"""Delegation tokens: their creation, and what is refused."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.credentials import protocol_at
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateDelegationTokenResponse,
    DescribeDelegationTokenRequest,
)
from harness.conformance.checks import requirement
from harness.conformance.outcome import NotApplicable
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import ordinary_user
from suites.protocol.support.sasl import credentials_of
from suites.protocol.support.tokens import (
    FIRST_WITH_OWNER,
    HOUR_MS,
    LAST_CHANGE,
    LONGEST,
    USER,
    TokenClient,
    creation,
    described,
    entered_by,
    expired,
    renewed,
    require_tokens,
    token_of,
)

HMAC_BYTES = 64
WITHOUT_TOKENS = {"delegation.token.secret.key": ""}
ONE_WAY_TLS = {"ssl.client.auth": "none"}
LIFE_MS, RENEWAL_MS = 2 * HOUR_MS, HOUR_MS
LIMITS = {
    "delegation.token.max.lifetime.ms": str(LIFE_MS),
    "delegation.token.expiry.time.ms": str(RENEWAL_MS),
}
OWN_LIFE_MS = 5 * HOUR_MS
NOT_ALLOWED = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
DISABLED = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


@judges("DTOK-001")
@at_versions("CreateDelegationToken")
def test_a_new_token_has_an_id_a_secret_and_times_in_their_order(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A second token of the user differs in both; the renewers change neither owner nor times."""
    require_tokens(broker)
    with (
        requirement("DTOK-001") as check,
        ordinary_user(broker) as owner,
        ordinary_user(broker) as other,
        token_of(broker, owner, api_version, life_ms=OWN_LIFE_MS) as first,
        token_of(broker, owner, api_version, [other]) as second,
    ):
        for what, token in {"the first": first, "with a renewer": second}.items():
            with check.subtest(what):
                _expect_new(token, owner.name, api_version)
        assert first.token_id != second.token_id, "two tokens have one id"
        assert bytes(first.hmac) != bytes(second.hmac), "two tokens have one hmac"


def _expect_new(token: CreateDelegationTokenResponse, owner: str, version: int) -> None:
    """The answer has an id, a secret, the user as owner and requester, and times in order."""
    issued, expires, ends = _times(token)
    assert 0 < issued <= expires <= ends, f"the times are {issued}, {expires}, {ends}"
    assert token.token_id, "the id is empty"
    assert len(token.hmac) == HMAC_BYTES, f"the hmac has {len(token.hmac)} bytes"
    found = (token.principal_type, token.principal_name)
    assert found == (USER, owner), f"the owner is {found}"
    if version >= FIRST_WITH_OWNER:
        found = (token.token_requester_principal_type, token.token_requester_principal_name)
        assert found == (USER, owner), f"the requester is {found}"


def _times(token: CreateDelegationTokenResponse) -> tuple[int, int, int]:
    return token.issue_timestamp_ms, token.expiry_timestamp_ms, token.max_timestamp_ms


def _codes(client: TokenClient, version: int) -> dict[str, int]:
    """Return the error code of each request about tokens."""
    change = min(version, LAST_CHANGE)
    created = client.ask(creation(version), version)
    assert bytes(created.hmac) == b"", "the answer has an hmac"
    listed = client.ask(DescribeDelegationTokenRequest(owners=None), version)
    assert listed.tokens == [], f"{len(listed.tokens)} tokens are described"
    return {
        "CreateDelegationToken": created.error_code,
        "RenewDelegationToken": renewed(client, bytes(HMAC_BYTES), LONGEST, change)[0],
        "ExpireDelegationToken": expired(client, bytes(HMAC_BYTES), LONGEST, change)[0],
        "DescribeDelegationToken": listed.error_code,
    }


def _expect_not_allowed(broker: BrokerUnderTest, version: int) -> None:
    for api, code in _codes(broker, version).items():
        expect_error(code, NOT_ALLOWED, api)


@judges("DTOK-002")
@at_versions("CreateDelegationToken")
def test_a_client_of_a_plaintext_listener_may_not_ask_for_tokens(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Neither for its own nor for those of others."""
    if protocol_at(broker.address) != "PLAINTEXT":
        raise NotApplicable("a PLAINTEXT listener")
    with requirement("DTOK-002"):
        _expect_not_allowed(broker, api_version)


@judges("DTOK-002")
@needs_broker(Use.TUNED, ONE_WAY_TLS)
@at_versions("CreateDelegationToken")
def test_a_client_without_a_certificate_may_not_ask_for_tokens(
    broker: BrokerUnderTest, api_version: int
) -> None:
    if protocol_at(broker.address) != "SSL":
        raise NotApplicable("a listener with TLS and without SASL")
    with requirement("DTOK-002"):
        _expect_not_allowed(broker, api_version)


@judges("DTOK-002")
@at_versions("CreateDelegationToken")
def test_a_client_that_entered_by_a_token_may_not_ask_for_tokens(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same user by its password may; the token stays as it was."""
    credentials = require_tokens(broker)
    with (
        requirement("DTOK-002") as check,
        ordinary_user(broker) as owner,
        token_of(broker, owner, api_version) as token,
    ):
        before = described(owner, api_version)
        own = credentials.of_token(token.token_id, bytes(token.hmac))
        code, _, connection = entered_by(broker, own)
        expect_error(code, ErrorCode.NONE, "by token")
        change, secret = min(api_version, LAST_CHANGE), bytes(token.hmac)
        codes = {
            **_codes(connection, api_version),
            "the renewal of the token itself": renewed(connection, secret, LONGEST, change)[0],
            "the removal of the token itself": expired(connection, secret, LONGEST, change)[0],
        }
        for api, found in codes.items():
            with check.subtest(api):
                expect_error(found, NOT_ALLOWED, api)
        after = described(owner, api_version)
        assert after == before, f"the tokens are {after}, before {before}"


@judges("DTOK-003")
@needs_broker(Use.TUNED, WITHOUT_TOKENS)
@at_versions("CreateDelegationToken")
def test_a_broker_without_a_key_has_no_tokens(broker: BrokerUnderTest, api_version: int) -> None:
    credentials_of(broker)
    with requirement("DTOK-003") as check:
        for api, code in _codes(broker, api_version).items():
            with check.subtest(api):
                expect_error(code, DISABLED, api)


@judges("DTOK-007")
@at_versions("CreateDelegationToken")
def test_a_renewer_that_is_no_user_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """Alone, and behind a user; no token is made. Two users are renewers."""
    require_tokens(broker)
    refused = ErrorCode.INVALID_PRINCIPAL_TYPE
    with requirement("DTOK-007") as check, ordinary_user(broker) as owner:
        for kind in ("Group", "user", ""):
            for renewers in ([(kind, "a")], [(USER, "b"), (kind, "a")]):
                with check.subtest(f"{len(renewers)} renewers, the last {kind!r}"):
                    answer = owner.ask(creation(api_version, renewers), api_version)
                    expect_error(answer.error_code, refused, f"a renewer of type {kind!r}")
                    assert bytes(answer.hmac) == b"", "the answer has an hmac"
        with check.subtest("users alone"):
            answer = owner.ask(creation(api_version, [(USER, "a"), (USER, "b")]), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "two users")

            def own() -> list[str]:
                return list(described(owner, broker.version("DescribeDelegationToken")))

            broker.eventually(own, "the token is described")
            assert own() == [answer.token_id], f"the tokens are {own()}, made is one"
            expired(owner, bytes(answer.hmac), LONGEST, broker.version("ExpireDelegationToken"))


@judges("DTOK-009")
@needs_broker(Use.TUNED, LIMITS)
@pytest.mark.parametrize("life_ms", [-1, 0, 1, RENEWAL_MS, RENEWAL_MS + 1, LIFE_MS, LIFE_MS + 1])
@at_versions("CreateDelegationToken")
def test_the_life_of_a_token_is_the_wanted_one_up_to_the_longest(
    broker: BrokerUnderTest, api_version: int, life_ms: int
) -> None:
    require_tokens(broker)
    version = api_version
    with requirement("DTOK-009"), ordinary_user(broker) as owner:
        token = owner.ask(creation(version, life_ms=life_ms), version)
        expect_error(token.error_code, ErrorCode.NONE, f"a life of {life_ms} ms")
        issued, expires, ends = _times(token)
        expected = min(life_ms, LIFE_MS) if life_ms > 0 else LIFE_MS
        assert ends - issued == expected, f"a life of {life_ms} ms is {ends - issued} ms"
        expected = min(expected, RENEWAL_MS)
        assert expires - issued == expected, f"life {life_ms} ms: valid for {expires - issued} ms"
