"""SASL: the choice of a mechanism, PLAIN and SCRAM."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import PLAIN, SCRAM
from harness.codec.error_code import ErrorCode
from harness.codec.messages import SaslAuthenticateResponse, SaslHandshakeRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    enter,
    expect_refused,
    expect_served,
    following,
    send_token,
    shake_hands,
    unauthenticated,
)

LEAST_ITERATIONS = 4096


@judges("SASL-002")
@at_versions("SaslHandshake")
def test_an_enabled_mechanism_is_answered_with_the_list(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each of the user's mechanisms; the list has all of them, each once."""
    credentials = credentials_of(broker)
    with requirement("SASL-002") as check:
        for mechanism in credentials.mechanisms:
            with check.subtest(mechanism):
                request = SaslHandshakeRequest(mechanism=mechanism)
                answer = unauthenticated(broker).ask(request, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, mechanism)
                missing = set(credentials.mechanisms) - set(answer.mechanisms)
                assert not missing, f"the list lacks {sorted(missing)}"
                assert len(set(answer.mechanisms)) == len(answer.mechanisms)


@judges("SASL-003")
@at_versions("SaslHandshake")
def test_an_unknown_mechanism_is_refused_with_the_list(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Also an empty name, and a name in small letters; then the connection closes."""
    credentials = credentials_of(broker)
    with requirement("SASL-003") as check:
        for mechanism in ("FOO", "", credentials.mechanisms[0].lower()):
            with check.subtest(f"mechanism {mechanism!r}"):
                connection = unauthenticated(broker)
                answer = connection.ask(SaslHandshakeRequest(mechanism=mechanism), api_version)
                error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
                expect_error(answer.error_code, error, repr(mechanism))
                assert set(credentials.mechanisms) <= set(answer.mechanisms)
                connection.expect_closed()


@judges("SASL-004")
@at_versions("SaslHandshake")
def test_tokens_follow_the_version_of_the_handshake(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """v0: frames of their own; v1: SaslAuthenticate. The form of the other version closes."""
    credentials = credentials_of(broker)
    highest = broker.version("SaslAuthenticate")
    with requirement("SASL-004") as check:
        for mechanism in credentials.mechanisms:
            with check.subtest(mechanism):
                connection = unauthenticated(broker)
                shake_hands(connection, mechanism, api_version)
                exchange = credentials.begin(mechanism)
                message: bytes | None = exchange.first()
                while message is not None:
                    if api_version == 0:
                        answer = connection.exchange_token(message)
                    else:
                        told = send_token(connection, message, highest)
                        expect_error(told.error_code, ErrorCode.NONE, mechanism)
                        answer = bytes(told.auth_bytes)
                    message = following(exchange, answer)
                expect_served(broker, connection)


@judges("SASL-005")
@at_versions("SaslAuthenticate")
def test_plain_admits_the_right_password_alone(broker: BrokerUnderTest, api_version: int) -> None:
    """With and without the user as the authorization id; a wrong password and an unknown user
    get the same error and text."""
    credentials = credentials_of(broker, PLAIN)
    right = (credentials.plain_token(), credentials.plain_token(authorized=credentials.user))
    wrong = (
        credentials.with_wrong_password().plain_token(),
        credentials.plain_token(user=f"{credentials.user}-unknown"),
    )
    with requirement("SASL-005") as check:
        for number, token in enumerate(right):
            with check.subtest(f"right {number}"):
                connection = unauthenticated(broker)
                shake_hands(connection, PLAIN)
                answer = send_token(connection, token, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, "the right password")
                expect_served(broker, connection)
        told = set()
        for number, token in enumerate(wrong):
            with check.subtest(f"wrong {number}"):
                connection = unauthenticated(broker)
                shake_hands(connection, PLAIN)
                answer = send_token(connection, token, api_version)
                expect_refused(connection, answer, "a wrong password, or an unknown user")
                told.add(answer.error_message)
        with check.subtest("the texts"):
            assert len(told) == 1, "the texts show which users exist"


@judges("SASL-006")
@at_versions("SaslAuthenticate")
def test_plain_refuses_tokens_of_another_form(broker: BrokerUnderTest, api_version: int) -> None:
    """Without a user, a password or a part, with one more part, as another identity."""
    credentials = credentials_of(broker, PLAIN)
    right = credentials.plain_token()
    tokens = {
        "no user": credentials.plain_token(user=""),
        "no password": f"\0{credentials.user}\0".encode(),
        "two parts": right[1:],
        "four parts": right + b"\0x",
        "nothing": b"",
        "another identity": credentials.plain_token(authorized=f"{credentials.user}-other"),
    }
    with requirement("SASL-006") as check:
        for name, token in tokens.items():
            with check.subtest(name):
                connection = unauthenticated(broker)
                shake_hands(connection, PLAIN)
                expect_refused(connection, send_token(connection, token, api_version), name)


@judges("SASL-007")
@pytest.mark.parametrize("mechanism", SCRAM)
@at_versions("SaslAuthenticate")
def test_scram_proves_both_sides(broker: BrokerUnderTest, mechanism: str, api_version: int) -> None:
    """The nonce continues the client's and is new each time; the broker's signature is right."""
    credentials = credentials_of(broker, mechanism)
    nonces = set()
    with requirement("SASL-007"):
        for _ in range(2):
            connection = unauthenticated(broker)
            shake_hands(connection, mechanism)
            exchange = credentials.begin(mechanism)
            first = exchange.first()
            answer = send_token(connection, first, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "client-first")
            parts = _attributes(bytes(answer.auth_bytes))
            own = _attributes(first)["r"]
            assert parts["r"].startswith(own), "the nonce does not continue the client's"
            nonces.add(parts["r"].removeprefix(own))
            assert int(parts["i"]) >= LEAST_ITERATIONS, f"{parts['i']} iterations"
            final = following(exchange, bytes(answer.auth_bytes))
            assert final is not None, "the exchange goes on"
            answer = send_token(connection, final, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, "client-final")
            following(exchange, bytes(answer.auth_bytes))  # raises for a wrong signature
            expect_served(broker, connection)
        assert len(nonces) == 2, "the broker uses a nonce again"
        assert "" not in nonces, "the broker adds nothing to the client's nonce"


@judges("SASL-008")
@pytest.mark.parametrize("mechanism", SCRAM)
@at_versions("SaslAuthenticate")
def test_scram_refuses_without_a_reason(
    broker: BrokerUnderTest, mechanism: str, api_version: int
) -> None:
    """A wrong password, an unknown user, an altered nonce, a missing proof: one error, one text."""
    credentials = credentials_of(broker, mechanism)
    told: set[str | None] = set()
    with requirement("SASL-008") as check:
        with check.subtest("a wrong password"):
            connection = unauthenticated(broker)
            shake_hands(connection, mechanism)
            wrong = credentials.with_wrong_password()
            _refused(connection, enter(connection, wrong, mechanism, api_version), told)
        with check.subtest("an unknown user"):
            connection = unauthenticated(broker)
            shake_hands(connection, mechanism)
            unknown = credentials.of(f"{credentials.user}-unknown", "x")
            _refused(connection, enter(connection, unknown, mechanism, api_version), told)
        for name, change in _CHANGES.items():
            with check.subtest(name):
                connection = unauthenticated(broker)
                shake_hands(connection, mechanism)
                exchange = credentials.begin(mechanism)
                answer = send_token(connection, exchange.first(), api_version)
                final = following(exchange, bytes(answer.auth_bytes))
                assert final is not None, "the exchange goes on"
                changed = change(final.decode()).encode()
                _refused(connection, send_token(connection, changed, api_version), told)
        with check.subtest("the texts"):
            assert len(told) == 1, "the texts show the reason"


def _without_proof(final: str) -> str:
    return final.rpartition(",p=")[0]


def _with_zeros(final: str) -> str:
    bare, _, proof = final.rpartition(",p=")
    zeros = base64.b64encode(bytes(len(base64.b64decode(proof)))).decode()
    return f"{bare},p={zeros}"


_CHANGES: dict[str, Callable[[str], str]] = {
    "an altered nonce": lambda final: final.replace(",p=", "x,p="),
    "a shortened nonce": lambda final: final.replace(final[final.index(",p=") - 1] + ",p=", ",p="),
    "no proof": _without_proof,
    "a proof of zeros": _with_zeros,
}


def _refused(
    connection: Connection, answer: SaslAuthenticateResponse, told: set[str | None]
) -> None:
    expect_refused(connection, answer, "wrong credentials")
    told.add(answer.error_message)


def _attributes(message: bytes) -> dict[str, str]:
    return dict(part.partition("=")[::2] for part in message.decode().split(","))
