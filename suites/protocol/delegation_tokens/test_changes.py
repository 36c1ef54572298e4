"""Delegation tokens: their renewal, their expiry and their removal."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.tokens import (
    HOUR_MS,
    LONGEST,
    REMOVE,
    Created,
    creation,
    described,
    entered_by,
    expired,
    renewed,
    require_tokens,
    token_of,
)

NOT_FOUND = ErrorCode.DELEGATION_TOKEN_NOT_FOUND
MISMATCH = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
EXPIRED = ErrorCode.DELEGATION_TOKEN_EXPIRED
LEAST = -(2**63)
SOON_MS = 1
REMOVED_WITHIN_MS = 6_000
CHECKED = {"delegation.token.expiry.check.interval.ms": "500"}
RENEWAL_MS = HOUR_MS
RENEWABLE = {"delegation.token.expiry.time.ms": str(RENEWAL_MS)}
Change = Callable[[Principal, bytes, int, int], tuple[int, int]]


class Elapsed:
    """The time since a moment before a token was made, as this process sees it."""

    def __init__(self) -> None:
        self._begun_s = time.monotonic()

    @property
    def ms(self) -> float:
        """It is at least what the broker sees."""
        return (time.monotonic() - self._begun_s) * 1000 + 2


def _expect_moved(token: Created, elapsed: Elapsed, period_ms: int, expires: int) -> None:
    """The expiry time is the period behind the change, which came after the token was issued."""
    since = expires - token.issue_timestamp_ms - period_ms
    assert 0 <= since <= elapsed.ms, f"a period of {period_ms} ms: {since} ms off"


def _await_expiry(broker: BrokerUnderTest, owner: Principal, token: Created, expires: int) -> None:
    version = broker.version("DescribeDelegationToken")

    def is_described() -> bool:
        found = described(owner, version)
        return token.token_id in found and found[token.token_id].expiry_timestamp == expires

    broker.eventually(is_described, f"the expiry time {expires} is described")


@judges("DTOK-005")
@at_versions("RenewDelegationToken")
def test_a_renewal_moves_the_expiry_time_up_to_the_end(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """By the owner and by a renewer."""
    require_tokens(broker)
    version, elapsed = api_version, Elapsed()
    with (
        requirement("DTOK-005") as check,
        ordinary_user(broker) as owner,
        ordinary_user(broker) as renewer,
        token_of(broker, owner, renewers=[renewer], life_ms=3 * HOUR_MS) as token,
    ):
        secret = bytes(token.hmac)
        for user, period_ms in ((owner, HOUR_MS), (renewer, 2 * HOUR_MS)):
            with check.subtest(f"for {period_ms} ms"):
                code, expires = renewed(user, secret, period_ms, version)
                expect_error(code, ErrorCode.NONE, f"a renewal for {period_ms} ms")
                _expect_moved(token, elapsed, period_ms, expires)
                _await_expiry(broker, owner, token, expires)
        for period_ms in (3 * HOUR_MS, 4 * HOUR_MS, LONGEST):
            with check.subtest(f"for {period_ms} ms, behind the end"):
                code, expires = renewed(renewer, secret, period_ms, version)
                expect_error(code, ErrorCode.NONE, f"a renewal for {period_ms} ms")
                end = token.max_timestamp_ms
                assert expires == end, f"{period_ms} ms: it expires at {expires}, its end is {end}"


def _await_end(broker: BrokerUnderTest, owner: Principal, secret: bytes) -> None:
    """Wait until a token has expired; an expiry now moves it to no later time than this."""
    version = broker.version("ExpireDelegationToken")
    broker.eventually(
        lambda: expired(owner, secret, 0, version)[0] == EXPIRED, "the token has expired"
    )


def _expect_refusals(broker: BrokerUnderTest, change: Change, version: int, what: str) -> None:
    """An unknown, a foreign and an expired token are refused, each beside one that is not."""
    with (
        ordinary_user(broker) as owner,
        ordinary_user(broker) as renewer,
        ordinary_user(broker) as stranger,
        token_of(broker, owner, renewers=[renewer]) as token,
        token_of(broker, owner, life_ms=1) as old,
    ):
        secret = bytes(token.hmac)
        unknown = {"another": secret[:-1] + bytes([secret[-1] ^ 1]), "half": secret[:32], "no": b""}
        for name, other in unknown.items():
            code, _ = change(owner, other, HOUR_MS, version)
            expect_error(code, NOT_FOUND, f"{what} by {name} hmac")
        code, _ = change(stranger, secret, HOUR_MS, version)
        expect_error(code, MISMATCH, f"{what} by a stranger")
        _await_end(broker, owner, bytes(old.hmac))
        code, _ = change(owner, bytes(old.hmac), HOUR_MS, version)
        expect_error(code, EXPIRED, f"{what} of an expired token")
        for user in (owner, renewer):
            code, _ = change(user, secret, HOUR_MS, version)
            expect_error(code, ErrorCode.NONE, f"{what} that is allowed")


@judges("DTOK-005")
@at_versions("RenewDelegationToken")
def test_a_renewal_is_refused_to_strangers_and_of_lost_tokens(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_tokens(broker)
    with requirement("DTOK-005"):
        _expect_refusals(broker, renewed, api_version, "a renewal")


def _await_removal(broker: BrokerUnderTest, owner: Principal, token: Created, version: int) -> None:
    """No list has the token, and a second removal finds nothing."""
    listing, secret = broker.version("DescribeDelegationToken"), token.hmac
    broker.eventually(
        lambda: token.token_id not in described(owner, listing), "the token is not described"
    )
    broker.eventually(
        lambda: expired(owner, bytes(secret), REMOVE, version)[0] == NOT_FOUND,
        "a second removal finds nothing",
    )


@judges("DTOK-006")
@at_versions("ExpireDelegationToken")
def test_a_negative_period_removes_the_token_at_once(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """It enters no more and is not described; another token of the user stays."""
    credentials = require_tokens(broker)
    with (
        requirement("DTOK-006") as check,
        ordinary_user(broker) as owner,
        token_of(broker, owner) as kept,
    ):
        for period_ms in (-1, LEAST):
            elapsed = Elapsed()
            with check.subtest(f"{period_ms}"), token_of(broker, owner) as token:
                own = credentials.of_token(token.token_id, bytes(token.hmac))
                code, _, _ = entered_by(broker, own)
                expect_error(code, ErrorCode.NONE, "before")
                code, at = expired(owner, bytes(token.hmac), period_ms, api_version)
                expect_error(code, ErrorCode.NONE, f"a period of {period_ms}")
                _expect_moved(token, elapsed, 0, at)
                _await_removal(broker, owner, token, api_version)
                code, _, _ = entered_by(broker, own)
                expect_error(code, ErrorCode.SASL_AUTHENTICATION_FAILED, "the removed token")
        code, _, _ = entered_by(broker, credentials.of_token(kept.token_id, bytes(kept.hmac)))
        expect_error(code, ErrorCode.NONE, "the other token")


@judges("DTOK-011")
@at_versions("ExpireDelegationToken")
def test_a_period_moves_the_expiry_time_and_keeps_the_token(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """To an earlier and to a later time, at most to the end; at the period 0 it expires."""
    require_tokens(broker)
    elapsed = Elapsed()
    with (
        requirement("DTOK-011") as check,
        ordinary_user(broker) as owner,
        ordinary_user(broker) as renewer,
        token_of(broker, owner, renewers=[renewer], life_ms=3 * HOUR_MS) as token,
    ):
        secret = bytes(token.hmac)
        for user, period_ms in ((owner, HOUR_MS), (renewer, 2 * HOUR_MS), (owner, 1000 * HOUR_MS)):
            with check.subtest(f"{period_ms} ms"):
                code, expires = expired(user, secret, period_ms, api_version)
                expect_error(code, ErrorCode.NONE, f"an expiry in {period_ms} ms")
                if period_ms > 3 * HOUR_MS:
                    end = token.max_timestamp_ms
                    assert expires == end, f"it expires at {expires}, its end is {end}"
                else:
                    _expect_moved(token, elapsed, period_ms, expires)
                _await_expiry(broker, owner, token, expires)
        with check.subtest("0 ms"):
            code, expires = expired(owner, secret, 0, api_version)
            expect_error(code, ErrorCode.NONE, "an expiry now")
            _expect_moved(token, elapsed, 0, expires)
            _await_end(broker, owner, secret)


@judges("DTOK-011")
@at_versions("ExpireDelegationToken")
def test_an_expiry_is_refused_to_strangers_and_of_lost_tokens(
    broker: BrokerUnderTest, api_version: int
) -> None:
    require_tokens(broker)
    with requirement("DTOK-011"):
        _expect_refusals(broker, expired, api_version, "an expiry")


@judges("DTOK-012")
@needs_broker(Use.TUNED, CHECKED)
@at_versions("DescribeDelegationToken")
def test_an_expired_token_is_removed_by_the_next_check(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """By its expiry time, and by the end of its life; one that is valid stays."""
    credentials = require_tokens(broker)
    with (
        requirement("DTOK-012") as check,
        ordinary_user(broker) as owner,
        token_of(broker, owner) as kept,
        token_of(broker, owner, life_ms=2 * HOUR_MS) as expiring,
    ):
        version = broker.version("CreateDelegationToken")
        change = broker.version("ExpireDelegationToken")
        short = owner.ask(creation(version, life_ms=1), version)
        expect_error(short.error_code, ErrorCode.NONE, "a short token")
        code, _ = expired(owner, bytes(expiring.hmac), SOON_MS, change)
        expect_error(code, ErrorCode.NONE, "an expiry in 1 ms")
        broker.eventually(
            lambda: set(described(owner, api_version)) == {kept.token_id},
            "only the valid token is described",
            within_ms=REMOVED_WITHIN_MS,
        )
        for what, gone in {"its end": short, "its expiry time": expiring}.items():
            with check.subtest(f"behind {what}"):
                lost = credentials.of_token(gone.token_id, bytes(gone.hmac))
                code, _, _ = entered_by(broker, lost)
                expect_error(code, ErrorCode.SASL_AUTHENTICATION_FAILED, f"behind {what}")
        code, _, _ = entered_by(broker, credentials.of_token(kept.token_id, bytes(kept.hmac)))
        expect_error(code, ErrorCode.NONE, "the valid token")


@judges("DTOK-013")
@needs_broker(Use.TUNED, RENEWABLE)
@at_versions("RenewDelegationToken")
def test_a_renewal_is_for_the_setting_at_most(broker: BrokerUnderTest, api_version: int) -> None:
    """A period of 0 or less is the setting, as is a longer one; a shorter one counts."""
    require_tokens(broker)
    elapsed = Elapsed()
    with (
        requirement("DTOK-013") as check,
        ordinary_user(broker) as owner,
        token_of(broker, owner, life_ms=9 * HOUR_MS) as token,
    ):
        for period_ms in (-1, 0, 1 + RENEWAL_MS, RENEWAL_MS, RENEWAL_MS - 1, 30_000):
            with check.subtest(f"{period_ms} ms"):
                code, expires = renewed(owner, bytes(token.hmac), period_ms, api_version)
                expect_error(code, ErrorCode.NONE, f"a renewal for {period_ms} ms")
                expected = min(period_ms, RENEWAL_MS) if period_ms > 0 else RENEWAL_MS
                _expect_moved(token, elapsed, expected, expires)
