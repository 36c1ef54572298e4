"""SCRAM, the broker's side: what a client gets at each step, and the ends of an exchange."""

from __future__ import annotations

import base64

import pytest

from harness.reference_broker.authentication.errors import CredentialsRefused, ExchangeBroken
from harness.reference_broker.authentication.scram_exchange import ScramServerState
from tests.reference_broker.authentication.exchanges import NONCE, final_of, scram, scram_by_token

FIRST = "n,,n=judge,r=of-the-client"


def test_the_right_password_gets_in_and_the_broker_proves_itself() -> None:
    exchange = scram()
    challenge = exchange.evaluate(FIRST.encode())
    assert challenge.startswith(f"r=of-the-client{NONCE},s=".encode())
    assert challenge.endswith(b",i=4096")
    final = final_of(FIRST, challenge)
    assert exchange.evaluate(final.token).decode() == final.expected
    assert exchange.is_complete
    assert exchange.user == "judge"


@pytest.mark.parametrize(
    "first",
    ["n,a=judge,n=judge,r=abc", "n,,n=judge,r=abc,foo=bar", "n,,n=judge,r=abc,tokenauth=false"],
)
def test_an_own_identity_and_unknown_extensions_are_accepted(first: str) -> None:
    exchange = scram()
    exchange.evaluate(final_of(first, exchange.evaluate(first.encode())).token)
    assert exchange.is_complete


@pytest.mark.parametrize(
    "first",
    [
        "",
        "n,,n=unknown,r=abc",
        "y,,n=judge,r=abc",
        "p=tls-unique,,n=judge,r=abc",
        "n,,n=judge,r=",
        "n,,n=,r=abc",
        "n,,n=ju=dge,r=abc",
        "n,,n=judge,r=a b",
        "n,,r=abc,n=judge",
        "n,,n=judge,r=abc,tokenauth=true",
    ],
)
def test_a_first_message_without_a_known_user_is_refused_without_a_reason(first: str) -> None:
    exchange = scram()
    with pytest.raises(CredentialsRefused) as refused:
        exchange.evaluate(first.encode())
    assert refused.value.said == ""
    assert exchange.state is ScramServerState.FAILED


def test_another_identity_than_the_user_is_refused_with_the_reason() -> None:
    with pytest.raises(CredentialsRefused) as refused:
        scram().evaluate(b"n,a=other,n=judge,r=abc")
    assert "authorization id that is different from username" in refused.value.said


@pytest.mark.parametrize("nonce", ["of-the-client", f"of-the-client{NONCE}x", NONCE])
def test_a_right_proof_for_another_nonce_is_refused(nonce: str) -> None:
    exchange = scram()
    challenge = exchange.evaluate(FIRST.encode())
    with pytest.raises(CredentialsRefused):
        exchange.evaluate(final_of(FIRST, challenge, nonce=nonce).token)
    assert not exchange.is_complete


def test_wrong_proofs_are_refused_and_end_the_exchange() -> None:
    for wrong in (
        lambda final, _: f"{final.bare},p={base64.b64encode(bytes(32)).decode()}".encode(),
        lambda final, _: final.bare.encode(),
        lambda final, _: final.token + b"x",
        lambda _, challenge: final_of(FIRST, challenge, "other-word").token,
    ):
        exchange = scram()
        challenge = exchange.evaluate(FIRST.encode())
        right = final_of(FIRST, challenge)
        with pytest.raises(CredentialsRefused):
            exchange.evaluate(wrong(right, challenge))
        with pytest.raises(ExchangeBroken):
            exchange.evaluate(right.token)
        assert not exchange.is_complete


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_proof_of_another_length_breaks_the_exchange(length: int) -> None:
    exchange = scram()
    final = final_of(FIRST, exchange.evaluate(FIRST.encode()))
    proof = base64.b64encode(bytes(length)).decode()
    with pytest.raises(ExchangeBroken):
        exchange.evaluate(f"{final.bare},p={proof}".encode())


def test_a_complete_exchange_takes_no_more_tokens() -> None:
    exchange = scram()
    token = final_of(FIRST, exchange.evaluate(FIRST.encode())).token
    exchange.evaluate(token)
    with pytest.raises(ExchangeBroken):
        exchange.evaluate(token)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(CredentialsRefused):
        scram().evaluate(b"n,,n=\xff,r=abc")


@pytest.mark.parametrize("extension", ["tokenauth=true", "foo=bar,tokenauth=TRUE"])
def test_a_token_gets_in_as_its_owner(extension: str) -> None:
    exchange, first = scram_by_token(), f"n,a=token,n=token,r=abc,{extension}"
    exchange.evaluate(final_of(first, exchange.evaluate(first.encode())).token)
    assert exchange.is_complete
    assert (exchange.user, exchange.by_token, exchange.life_ms) == ("judge", True, 5_000)


@pytest.mark.parametrize(
    "first",
    [
        "n,,n=unknown,r=abc,tokenauth=true",
        "n,,n=judge,r=abc,tokenauth=true",
        "n,,n=token,r=abc,tokenauth=false",
        "n,,n=token,r=abc",
    ],
)
def test_only_the_id_of_a_token_is_one(first: str) -> None:
    with pytest.raises(CredentialsRefused) as refused:
        scram_by_token().evaluate(first.encode())
    assert refused.value.said == ""


def test_another_identity_than_the_id_of_the_token_is_refused_with_the_reason() -> None:
    with pytest.raises(CredentialsRefused) as refused:
        scram_by_token().evaluate(b"n,a=judge,n=token,r=abc,tokenauth=true")
    assert "authorization id" in refused.value.said
