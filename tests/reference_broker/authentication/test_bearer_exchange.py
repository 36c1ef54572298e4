"""OAUTHBEARER at the broker: the message, the token, and the two steps of a refusal."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from harness.reference_broker.authentication.bearer_exchange import (
    BearerServer,
    BearerState,
    BearerToken,
)
from harness.reference_broker.authentication.errors import CredentialsRefused, ExchangeBroken
from harness.reference_broker.authentication.listener_security import ListenerSecurity
from harness.reference_broker.authentication.unsecured_tokens import TokenRefused, read_unsecured
from harness.reference_broker.settings import BrokerSettings, SettingError

NOW_MS = 1_700_000_000_000
NOW_S = NOW_MS // 1000


def part(members: object) -> str:
    return base64.b64encode(json.dumps(members).encode()).decode().rstrip("=")


def token(header: object = None, **claims: Any) -> str:
    return f"{part(header or {'alg': 'none'})}.{part(claims)}."


def server() -> BearerServer:
    return BearerServer(lambda text: BearerToken(*read_unsecured(text, NOW_MS)))


def message(text: str, authorized: str = "", more: str = "") -> bytes:
    return f"n,{authorized},\x01auth=Bearer {text}\x01{more}\x01".encode()


VALID = token(sub="judge", iat=NOW_S, exp=NOW_S + 60)


@pytest.mark.parametrize(
    "first", [message(VALID), message(VALID, "a=judge"), message(VALID, more="traceId=1\x01")]
)
def test_a_valid_token_completes_the_exchange(first: bytes) -> None:
    exchange = server()
    assert exchange.evaluate(first) == b""
    assert exchange.is_complete
    assert (exchange.user, exchange.life_ms) == ("judge", 60_000)


def test_a_refusal_has_two_steps() -> None:
    exchange = server()
    assert exchange.evaluate(message("a.b.")) == b'{"status":"invalid_token"}'
    assert exchange.state is BearerState.REFUSED
    with pytest.raises(CredentialsRefused) as refused:
        exchange.evaluate(b"\x01")
    assert refused.value.said == '{"status":"invalid_token"}'


def test_a_valid_token_may_follow_a_refusal() -> None:
    exchange = server()
    exchange.evaluate(message("a.b."))
    assert exchange.evaluate(message(VALID)) == b""
    assert exchange.is_complete


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (b"\x01", CredentialsRefused),
        (b"n,,\x01\x01", CredentialsRefused),
        (b"n,,\x01auth=Bearer\x01\x01", CredentialsRefused),
        (b"y,,\x01auth=Bearer a\x01\x01", CredentialsRefused),
        (message(VALID, "a=other"), CredentialsRefused),
        (b"n,,\x01auth=Basic YTpi\x01\x01", ExchangeBroken),
    ],
)
def test_a_message_of_another_form_ends_the_exchange(
    first: bytes, problem: type[Exception]
) -> None:
    exchange = server()
    with pytest.raises(problem):
        exchange.evaluate(first)
    assert exchange.state is BearerState.FAILED


@pytest.mark.parametrize(
    "wrong",
    [
        token(sub="judge", exp=NOW_S),
        token(sub="judge"),
        token(sub="judge", exp="later"),
        token(sub="judge", exp=True),
        token(sub=" ", exp=NOW_S + 1),
        token(sub=7, exp=NOW_S + 1),
        token(exp=NOW_S + 1),
        token(sub="judge", iat=NOW_S + 1, exp=NOW_S + 2),
        token(sub="judge", iat=NOW_S, exp=NOW_S - 1),
        token({"alg": "RS256"}, sub="judge", exp=NOW_S + 1),
        VALID + "AAAA",
        VALID.removesuffix("."),
        f"{part({'alg': 'none'})}..",
        f"{part({'alg': 'none'})}.!!.",
        f"{part({'alg': 'none'})}.{part([1])}.",
    ],
)
def test_a_token_that_kafka_refuses_is_not_read(wrong: str) -> None:
    with pytest.raises(TokenRefused):
        read_unsecured(wrong, NOW_MS)


def test_the_edges_of_time_belong_to_the_token() -> None:
    assert read_unsecured(token(sub="u", iat=NOW_S, exp=NOW_S + 0.001), NOW_MS) == ("u", 1)


def test_a_release_before_2_0_has_no_tokens() -> None:
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
    }
    ListenerSecurity(BrokerSettings.of(settings, "2.8.2"), "PLAINTEXT")
    with pytest.raises(SettingError, match="OAUTHBEARER: this broker has PLAIN"):
        ListenerSecurity(BrokerSettings.of(settings, "1.1.1"), "PLAINTEXT")
