"""SASL: tokens of OAUTHBEARER (RFC 7628, KIP-255)."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.credentials import BEARER
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.conformance.outcome import NotApplicable
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.sasl import (
    credentials_of,
    expect_refused,
    expect_served,
    send_token,
    shake_hands,
    unauthenticated,
)

LIFE_S = 3600
ACKNOWLEDGEMENT = b"\x01"
NEEDED = "a listener that takes tokens without a signature"
WITH_LIFE = 1


def _encoded(members: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(members).encode()).decode().rstrip("=")


def _token(claims: dict[str, Any], algorithm: str = "none", signature: str = "") -> str:
    return f"{_encoded({'alg': algorithm})}.{_encoded(claims)}.{signature}"


def _message(token: str, *, authorized: str = "", more: str = "") -> bytes:
    named = f"a={authorized}" if authorized else ""
    return f"n,{named},\x01auth=Bearer {token}\x01{more}\x01".encode()


def _user_of_tokens(broker: BrokerUnderTest) -> str:
    credentials = credentials_of(broker)
    if not credentials.has_unsecured_tokens:
        raise NotApplicable(NEEDED)
    return credentials.user


def _begun(broker: BrokerUnderTest) -> Connection:
    connection = unauthenticated(broker)
    shake_hands(connection, BEARER)
    return connection


@judges("SASL-015")
@at_versions("SaslAuthenticate")
def test_a_valid_token_enters(broker: BrokerUnderTest, api_version: int) -> None:
    """Alone, with its user as the authorization id, and with an extension (KIP-342)."""
    user, now_s = _user_of_tokens(broker), int(time.time())
    valid = _token({"sub": user, "iat": now_s - 1, "exp": now_s + LIFE_S})
    messages = {
        "alone": _message(valid),
        "with its user": _message(valid, authorized=user),
        "with an extension": _message(valid, more="traceId=123\x01"),
    }
    with requirement("SASL-015") as check:
        for name, message in messages.items():
            with check.subtest(name):
                connection = _begun(broker)
                answer = send_token(connection, message, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, name)
                assert bytes(answer.auth_bytes) == b"", f"{name}: the answer has a token"
                if api_version >= WITH_LIFE:
                    life_ms = answer.session_lifetime_ms
                    assert 0 <= life_ms <= LIFE_S * 1000, f"the session lives {life_ms} ms"
                expect_served(broker, connection)


@judges("SASL-015")
@at_versions("SaslAuthenticate")
def test_an_invalid_token_gets_a_reason_before_its_error(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A JSON text without an error; the error follows the byte 0x01 of the client."""
    user, now_s = _user_of_tokens(broker), int(time.time())
    valid = {"sub": user, "iat": now_s - 10, "exp": now_s + LIFE_S}
    tokens = {
        "expired": _token({**valid, "exp": now_s - 1}),
        "without an end": _token({"sub": user, "iat": now_s}),
        "without a user": _token({"iat": now_s, "exp": now_s + LIFE_S}),
        "issued later": _token({**valid, "iat": now_s + LIFE_S, "exp": now_s + 2 * LIFE_S}),
        "signed": _token(valid, signature="AAAA"),
        "of another algorithm": _token(valid, algorithm="RS256"),
        "of two parts": _token(valid).removesuffix("."),
        "no JSON": f"{_encoded({'alg': 'none'})}.AAAA.",
    }
    with requirement("SASL-015") as check:
        for name, token in tokens.items():
            with check.subtest(name):
                connection = _begun(broker)
                answer = send_token(connection, _message(token), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, name)
                _expect_reason(bytes(answer.auth_bytes), name)
                expect_refused(
                    connection, send_token(connection, ACKNOWLEDGEMENT, api_version), name
                )


@judges("SASL-015")
@at_versions("SaslAuthenticate")
def test_a_message_of_another_form_is_refused_at_once(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without a token, without an end, an acknowledgement of nothing, as another user."""
    user, now_s = _user_of_tokens(broker), int(time.time())
    valid = _token({"sub": user, "iat": now_s - 1, "exp": now_s + LIFE_S})
    messages = {
        "no token": b"n,,\x01\x01",
        "no end": _message(valid)[:-1],
        "an acknowledgement": ACKNOWLEDGEMENT,
        "another user": _message(valid, authorized=f"{user}-other"),
    }
    with requirement("SASL-015") as check:
        for name, message in messages.items():
            with check.subtest(name):
                connection = _begun(broker)
                expect_refused(connection, send_token(connection, message, api_version), name)


def _expect_reason(challenge: bytes, what: str) -> None:
    assert challenge.startswith(b"{"), f"{what}: the challenge is {challenge!r}"
    status = json.loads(challenge).get("status")
    assert status == "invalid_token", f"{what}: the status is {status!r}"
