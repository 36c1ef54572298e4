"""Delegation tokens: the way in by SCRAM, as the owner."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import SCRAM, Credentials
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.acl_terms import Operation, Resource
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import Principal, ordinary_user
from suites.protocol.support.rights import Right, give, require_authorizer
from suites.protocol.support.sasl import expect_served
from suites.protocol.support.tokens import (
    HOUR_MS,
    Created,
    entered_by,
    password_of,
    require_tokens,
    token_of,
)

REFUSED = ErrorCode.SASL_AUTHENTICATION_FAILED
HIDDEN = ErrorCode.TOPIC_AUTHORIZATION_FAILED
SHORT_MS = 2_000
MOST_LIVES = 4
"""A session that has its end is closed long before so many times its life."""


def _sees(broker: BrokerUnderTest, connection: Connection, name: str) -> int:
    """Return the error code with which Metadata describes a topic."""
    topic = MetadataRequest.MetadataRequestTopic(name=name)
    request = MetadataRequest(topics=[topic], allow_auto_topic_creation=False)
    (found,) = connection.ask(request, broker.version("Metadata", "4-9")).topics
    return int(found.error_code)


@judges("DTOK-004")
@at_versions("SaslAuthenticate")
def test_a_token_enters_as_its_owner(broker: BrokerUnderTest, api_version: int) -> None:
    """By both mechanisms: with the rights of the owner, and not with those of a renewer."""
    credentials = require_tokens(broker)
    require_authorizer(broker)
    mine, others = broker.create_topic(), broker.create_topic()
    with (
        requirement("DTOK-004") as check,
        ordinary_user(broker) as owner,
        ordinary_user(broker) as renewer,
        token_of(broker, owner, renewers=[renewer]) as token,
    ):
        give(broker, owner.principal, [Right(Operation.DESCRIBE, Resource.TOPIC, mine.name)])
        give(broker, renewer.principal, [Right(Operation.DESCRIBE, Resource.TOPIC, others.name)])
        own = credentials.of_token(token.token_id, bytes(token.hmac))
        for mechanism in SCRAM:
            with check.subtest(mechanism):
                code, _, connection = entered_by(broker, own, mechanism, api_version)
                expect_error(code, ErrorCode.NONE, mechanism)
                found = _sees(broker, connection, mine.name)
                expect_error(found, ErrorCode.NONE, "the owner's topic")
                expect_error(_sees(broker, connection, others.name), HIDDEN, "the renewer's topic")


@judges("DTOK-004")
@at_versions("SaslAuthenticate")
def test_only_the_id_and_the_secret_of_a_token_enter(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Also not as a user: a token's id without tokenauth is an unknown user."""
    credentials = require_tokens(broker)
    with (
        requirement("DTOK-004") as check,
        ordinary_user(broker) as owner,
        token_of(broker, owner) as token,
    ):
        for mechanism in SCRAM:
            for what, wrong in _wrong(credentials, owner, token).items():
                with check.subtest(f"{mechanism}: {what}"):
                    code, _, connection = entered_by(broker, wrong, mechanism, api_version)
                    expect_error(code, REFUSED, what)
                    connection.expect_closed()


def _wrong(credentials: Credentials, owner: Principal, token: Created) -> dict[str, Credentials]:
    secret = bytes(token.hmac)
    other = bytes([*secret[:-1], secret[-1] ^ 1])
    return {
        "another secret": credentials.of_token(token.token_id, other),
        "another id": credentials.of_token(f"{token.token_id}x", secret),
        "the owner's name": credentials.of_token(owner.name, secret),
        "a user, and not a token": credentials.of(token.token_id, password_of(token)),
    }


@judges("DTOK-010")
@at_versions("SaslAuthenticate", "1+")
def test_a_session_by_a_token_ends_with_the_token(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A session of a second is closed, one of an hour goes on."""
    credentials = require_tokens(broker)
    with (
        requirement("DTOK-010") as check,
        ordinary_user(broker) as owner,
        token_of(broker, owner, life_ms=SHORT_MS) as short,
        token_of(broker, owner, life_ms=HOUR_MS) as long,
    ):
        own = credentials.of_token(long.token_id, bytes(long.hmac))
        code, life_ms, going_on = entered_by(broker, own, version=api_version)
        with check.subtest("an hour"):
            expect_error(code, ErrorCode.NONE, "an hour")
            assert HOUR_MS // 2 < life_ms <= HOUR_MS, f"the life is {life_ms} ms"
        own = credentials.of_token(short.token_id, bytes(short.hmac))
        code, life_ms, ended = entered_by(broker, own, version=api_version)
        with check.subtest("a short one"):
            expect_error(code, ErrorCode.NONE, "a short one")
            assert 0 <= life_ms <= SHORT_MS, f"the life is {life_ms} ms"
            is_closed = broker.last_seen(
                lambda: _is_closed(broker, ended), bool, MOST_LIVES * SHORT_MS
            )
            assert is_closed, f"a session of {SHORT_MS} ms is served {MOST_LIVES} times as long"
        with check.subtest("still an hour"):
            expect_served(broker, going_on)


def _is_closed(broker: BrokerUnderTest, connection: Connection) -> bool:
    """True if the broker closes the connection at a request, instead of an answer."""
    try:
        expect_served(broker, connection)
    except ConnectionClosed:
        return True
    return False
