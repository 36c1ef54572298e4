"""SCRAM against the examples of its documents, and against brokers that cheat."""

from __future__ import annotations

import base64

import pytest

from harness.security.errors import ExchangeFailed
from harness.security.scram import ScramExchange, ScramState
from harness.security.secret import Secret
from harness.security.settings import Mechanism, SaslSettings

NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def exchange(username: str = "user", *, by_token: bool = False) -> ScramExchange:
    sasl = SaslSettings(Mechanism.SCRAM_SHA_256, username, Secret("pencil"), by_token)
    return ScramExchange("sha256", sasl, NONCE)


def test_the_messages_are_those_of_the_example_in_rfc_7677() -> None:
    client = exchange()
    assert client.first() == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert client.following(SERVER_FIRST) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert str(client.state) == ScramState.PROVED
    assert client.following(SERVER_FINAL) is None
    assert str(client.state) == ScramState.DONE


def test_a_broker_that_does_not_know_the_password_is_refused() -> None:
    client = exchange()
    client.first()
    client.following(SERVER_FIRST)
    wrong = base64.b64encode(bytes(32)).decode()
    with pytest.raises(ExchangeFailed, match="it does not know the password"):
        client.following(f"v={wrong}".encode())
    assert client.state is ScramState.FAILED


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (b"r=another,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce does not continue ours"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce does not continue"),
        (SERVER_FIRST.replace(b"4096", b"4095"), "wants '4095' iterations"),
        (SERVER_FIRST.replace(b"4096", b"9999999"), "wants '9999999' iterations"),
        (SERVER_FIRST.replace(b"s=W22Z", b"s=*"), "no good s="),
        (b"e=unknown-user", "the error 'unknown-user'"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_first_message_of_another_form_ends_the_exchange(message: bytes, problem: str) -> None:
    client = exchange()
    client.first()
    with pytest.raises(ExchangeFailed, match=problem):
        client.following(message)
    assert client.state is ScramState.FAILED
    with pytest.raises(ExchangeFailed):
        client.following(SERVER_FIRST)


def test_the_final_message_cannot_come_first() -> None:
    client = exchange()
    client.first()
    with pytest.raises(ExchangeFailed):
        client.following(SERVER_FINAL)


def test_signs_in_a_name_are_escaped() -> None:
    assert exchange("a=b,c").first() == b"n,,n=a=3Db=2Cc,r=rOprNGfwEbeRWgbNEkqO"


def test_a_delegation_token_is_named_as_one() -> None:
    assert exchange(by_token=True).first().endswith(b",r=rOprNGfwEbeRWgbNEkqO,tokenauth=true")


def test_each_exchange_has_its_own_nonce() -> None:
    sasl = SaslSettings(Mechanism.SCRAM_SHA_256, "user", Secret("pencil"))
    assert ScramExchange("sha256", sasl).first() != ScramExchange("sha256", sasl).first()
