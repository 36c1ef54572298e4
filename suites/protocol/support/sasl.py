"""Connections to a SASL listener on which the test itself sends the authentication."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import (
    ClientExchange,
    Credentials,
    ExchangeFailed,
    credentials_at,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
)
from harness.conformance.outcome import NotApplicable
from suites.protocol.support.expect import expect_error

NEEDED = "a listener with SASL"


def credentials_of(broker: BrokerUnderTest, mechanism: str | None = None) -> Credentials:
    """Return the credentials of the run. Raises NotApplicable without SASL or the mechanism."""
    found = credentials_at(broker.address)
    if found is None:
        raise NotApplicable(NEEDED)
    if mechanism is not None and mechanism not in found.mechanisms:
        raise NotApplicable(f"a user of {mechanism}")
    return found


def unauthenticated(broker: BrokerUnderTest) -> Connection:
    """Return a connection behind TLS, where there is one, and before SASL."""
    return broker.connect(authenticates=False)


def shake_hands(connection: Connection, mechanism: str, version: int = 1) -> None:
    """Begin an authentication; a refusal is the broker's fault."""
    answer = connection.ask(SaslHandshakeRequest(mechanism=mechanism), version)
    expect_error(answer.error_code, ErrorCode.NONE, f"SaslHandshake v{version} {mechanism}")


def send_token(connection: Connection, token: bytes, version: int) -> SaslAuthenticateResponse:
    """Return the answer to a token."""
    return connection.ask(SaslAuthenticateRequest(auth_bytes=token), version)


def enter(
    connection: Connection, credentials: Credentials, mechanism: str, version: int
) -> SaslAuthenticateResponse:
    """Go through a whole exchange by SaslAuthenticate; return the last answer, or the first with
    an error."""
    exchange = credentials.begin(mechanism)
    message: bytes | None = exchange.first()
    while True:
        assert message is not None, "an exchange has a message"
        answer = send_token(connection, message, version)
        if answer.error_code != ErrorCode.NONE:
            return answer
        message = following(exchange, bytes(answer.auth_bytes))
        if message is None:
            return answer


def following(exchange: ClientExchange, token: bytes) -> bytes | None:
    """Return the client's next message, None behind the last one.

    The check fails where the broker's token is wrong.
    """
    try:
        return exchange.following(token)
    except ExchangeFailed as problem:
        raise AssertionError(str(problem)) from problem


def expect_served(broker: BrokerUnderTest, connection: Connection) -> None:
    """Metadata is answered with brokers."""
    brokers = connection.ask(MetadataRequest(topics=[]), broker.version("Metadata")).brokers
    assert brokers, "Metadata lists no broker"


def expect_refused(connection: Connection, answer: SaslAuthenticateResponse, what: str) -> None:
    """The answer is SASL_AUTHENTICATION_FAILED without a token, and the connection closes."""
    expect_error(answer.error_code, ErrorCode.SASL_AUTHENTICATION_FAILED, what)
    assert bytes(answer.auth_bytes) == b"", f"{what}: the answer has a token"
    connection.expect_closed()
