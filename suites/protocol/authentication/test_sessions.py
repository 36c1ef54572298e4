"""SASL: the life of a session, and its renewal on the same connection (KIP-368)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker, needs_listener
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    enter,
    expect_refused,
    expect_served,
    shake_hands,
    unauthenticated,
)

LIFE_MS = 3_000
ENDING = {"connections.max.reauth.ms": str(LIFE_MS)}
MOST_LIVES = 3
"""A session that has its end is closed long before so many times its life."""
RENEWABLE_MS = 60_000
RENEWED = {"connections.max.reauth.ms": str(RENEWABLE_MS)}


@judges("SASL-010")
@at_versions("SaslAuthenticate", "1+")
def test_a_session_without_an_end_has_the_life_zero(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """And a second SaslHandshake begins nothing: ILLEGAL_SASL_STATE, and the connection goes on."""
    credentials = credentials_of(broker)
    mechanism = credentials.mechanisms[0]
    with requirement("SASL-010"):
        connection = unauthenticated(broker)
        shake_hands(connection, mechanism)
        answer = enter(connection, credentials, mechanism, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, mechanism)
        assert answer.session_lifetime_ms == 0, f"the life is {answer.session_lifetime_ms} ms"
        again = connection.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
        expect_error(again.error_code, ErrorCode.ILLEGAL_SASL_STATE, "a second SaslHandshake")
        expect_served(broker, connection)


@judges("SASL-010")
@needs_listener(sasl=True)
@needs_broker(Use.TUNED, ENDING)
@at_versions("SaslAuthenticate", "1+")
def test_a_request_behind_the_end_of_the_session_closes_the_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A connection that has authenticated itself again is served; one that has not is closed."""
    credentials = credentials_of(broker)
    mechanism = credentials.mechanisms[0]
    with requirement("SASL-010") as check:
        ended, renewed = unauthenticated(broker), unauthenticated(broker)
        for name, connection in {"one": ended, "another": renewed}.items():
            with check.subtest(f"the life of {name}"):
                shake_hands(connection, mechanism)
                answer = enter(connection, credentials, mechanism, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, mechanism)
                assert answer.session_lifetime_ms == LIFE_MS, f"{answer.session_lifetime_ms} ms"
                expect_served(broker, connection)
        with check.subtest("not authenticated again"):
            is_closed = broker.last_seen(
                lambda: _is_closed(broker, ended), bool, MOST_LIVES * LIFE_MS
            )
            assert is_closed, f"a session of {LIFE_MS} ms is served {MOST_LIVES} times as long"
        with check.subtest("authenticated again"):
            shake_hands(renewed, mechanism)
            answer = enter(renewed, credentials, mechanism, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, mechanism)
            expect_served(broker, renewed)


def _is_closed(broker: BrokerUnderTest, connection: Connection) -> bool:
    """True if the broker closes the connection at a request, instead of an answer."""
    try:
        expect_served(broker, connection)
    except ConnectionClosed:
        return True
    return False


@judges("SASL-011")
@needs_listener(sasl=True)
@needs_broker(Use.TUNED, RENEWED)
@at_versions("SaslAuthenticate", "1+")
def test_a_session_is_renewed_by_its_own_user_and_mechanism_alone(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A wrong password, and another mechanism of the same user, end the connection."""
    credentials = credentials_of(broker)
    mechanism = credentials.mechanisms[0]
    with requirement("SASL-011") as check:
        with check.subtest("the same"):
            connection = unauthenticated(broker)
            shake_hands(connection, mechanism)
            enter(connection, credentials, mechanism, api_version)
            shake_hands(connection, mechanism)
            answer = enter(connection, credentials, mechanism, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "authenticated again")
            assert answer.session_lifetime_ms == RENEWABLE_MS
            expect_served(broker, connection)
        with check.subtest("a wrong password"):
            connection = unauthenticated(broker)
            shake_hands(connection, mechanism)
            enter(connection, credentials, mechanism, api_version)
            shake_hands(connection, mechanism)
            wrong = credentials.with_wrong_password()
            answer = enter(connection, wrong, mechanism, api_version)
            expect_refused(connection, answer, "a wrong password")
        for other in credentials.mechanisms[1:]:
            with check.subtest(other):
                connection = unauthenticated(broker)
                shake_hands(connection, mechanism)
                enter(connection, credentials, mechanism, api_version)
                shake_hands(connection, other)
                _send_first(connection, credentials.begin(other).first(), api_version)
                connection.expect_closed()


def _send_first(connection: Connection, token: bytes, version: int) -> None:
    connection.send(SaslAuthenticateRequest(auth_bytes=token), version)
    connection.forget_answer()
