"""SCRAM, the client's side (RFC 5802, RFC 7677; KIP-84 with delegation tokens, KIP-48).

``state`` moves by what the broker sends; an error ends the exchange.

| state | event | next | what is sent |
|---|---|---|---|
| new | ``first()`` | named | the name and a nonce |
| named | the broker's nonce, salt and iterations | proved | the proof of the password |
| proved | the broker's signature, and it is right | done | nothing |
| proved | the broker's signature, and it is wrong | failed | nothing |
| named, proved | an error, or a message of another form | failed | nothing |
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from enum import StrEnum

from harness.security.errors import ExchangeFailed
from harness.security.scram_keys import (
    LEAST_ITERATIONS,
    client_key,
    masked,
    salted_password,
    server_key,
    signature,
    signed_text,
    stored_key,
)
from harness.security.settings import SaslSettings

MOST_ITERATIONS = 1 << 20
_HEADER = "n,,"
_DELEGATED = ",tokenauth=true"


class ScramState(StrEnum):
    """See the table of the module."""

    NEW = "new"
    NAMED = "named"
    PROVED = "proved"
    DONE = "done"
    FAILED = "failed"


class ScramExchange:
    """One authentication with a name and a password; ``digest`` is the name of the hash."""

    def __init__(self, digest: str, sasl: SaslSettings, nonce: str = "") -> None:
        """``nonce``: printable, without a comma; by default a new one."""
        self.state = ScramState.NEW
        self._digest, self._sasl = digest, sasl
        self._nonce = nonce or secrets.token_urlsafe(24)
        self._bare, self._signature = "", b""

    def first(self) -> bytes:
        """Return client-first-message."""
        name = self._sasl.username.replace("=", "=3D").replace(",", "=2C")
        by_token = _DELEGATED if self._sasl.by_delegation_token else ""
        self._bare = f"n={name},r={self._nonce}{by_token}"
        self.state = ScramState.NAMED
        return f"{_HEADER}{self._bare}".encode()

    def following(self, challenge: bytes) -> bytes | None:
        """Return client-final-message, and None once the broker has proved itself."""
        before, self.state = self.state, ScramState.FAILED
        attributes = _attributes(challenge)
        if "e" in attributes:
            raise ExchangeFailed(f"SCRAM: the broker sends the error {attributes['e']!r}")
        if before is ScramState.NAMED:
            answer = self._final(challenge.decode(), attributes)
            self.state = ScramState.PROVED
            return answer
        if before is not ScramState.PROVED:
            raise ExchangeFailed(f"SCRAM: a message in the state {before}")
        if not hmac.compare_digest(_bytes(attributes, "v"), self._signature):
            raise ExchangeFailed(
                "SCRAM: the broker's signature is wrong: it does not know the password"
            )
        self.state = ScramState.DONE
        return None

    def _final(self, server_first: str, attributes: dict[str, str]) -> bytes:
        nonce, salt = attributes.get("r", ""), _bytes(attributes, "s")
        iterations = attributes.get("i", "")
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise ExchangeFailed("SCRAM: the broker's nonce does not continue ours")
        known = iterations.isdecimal() and LEAST_ITERATIONS <= int(iterations) <= MOST_ITERATIONS
        if not known:
            raise ExchangeFailed(f"SCRAM: the broker wants {iterations!r} iterations")
        salted = salted_password(self._digest, self._sasl.password.reveal(), salt, int(iterations))
        bare = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        signed = signed_text(self._bare, server_first, bare)
        key = client_key(self._digest, salted)
        mask = signature(self._digest, stored_key(self._digest, key), signed)
        proof = base64.b64encode(masked(key, mask)).decode()
        self._signature = signature(self._digest, server_key(self._digest, salted), signed)
        return f"{bare},p={proof}".encode()


def _attributes(message: bytes) -> dict[str, str]:
    try:
        pairs = [part.partition("=") for part in message.decode().split(",")]
    except UnicodeDecodeError:
        raise ExchangeFailed("SCRAM: a message of the broker is not UTF-8") from None
    return {name: value for name, _, value in pairs}


def _bytes(attributes: dict[str, str], name: str) -> bytes:
    try:
        return base64.b64decode(attributes[name], validate=True)
    except (KeyError, binascii.Error):
        raise ExchangeFailed(f"SCRAM: the broker's message has no good {name}=") from None
