"""The exchanges of the SASL mechanisms, a message at a time; the broker begins none of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from harness.security.scram import ScramExchange
from harness.security.settings import Mechanism, SaslSettings

_SOH = "\x01"
"""Separates the parts of a message of OAUTHBEARER (RFC 7628, section 3.1)."""


class ClientExchange(Protocol):
    """The client's side of one authentication."""

    def first(self) -> bytes:
        """Return the client's first message. Raises ExchangeFailed."""

    def following(self, challenge: bytes, /) -> bytes | None:
        """Return the next message; None: all has been said. Raises ExchangeFailed."""


class _Plain:
    """PLAIN (RFC 4616): the name and the password, in one message."""

    def __init__(self, sasl: SaslSettings) -> None:
        self._sasl = sasl

    def first(self) -> bytes:
        return f"\0{self._sasl.username}\0{self._sasl.password.reveal()}".encode()

    def following(self, _: bytes, /) -> bytes | None:
        return None


class _OAuthBearer:
    """OAUTHBEARER (RFC 7628, KIP-255): the token and the extensions (KIP-342), in one message.

    A broker that refuses the token answers with a challenge, a JSON text; the client has to
    acknowledge it, and only then gets the error.
    """

    def __init__(self, sasl: SaslSettings) -> None:
        assert sasl.tokens is not None, "OAUTHBEARER has a source of tokens"
        self._tokens, self._extensions = sasl.tokens, sasl.extensions

    def first(self) -> bytes:
        extensions = "".join(f"{name}={value}{_SOH}" for name, value in self._extensions)
        return f"n,,{_SOH}auth=Bearer {self._tokens.token()}{_SOH}{extensions}{_SOH}".encode()

    def following(self, challenge: bytes) -> bytes | None:
        return _SOH.encode() if challenge else None


_EXCHANGES: Mapping[Mechanism, Callable[[SaslSettings], ClientExchange]] = {
    Mechanism.PLAIN: _Plain,
    Mechanism.SCRAM_SHA_256: lambda sasl: ScramExchange("sha256", sasl),
    Mechanism.SCRAM_SHA_512: lambda sasl: ScramExchange("sha512", sasl),
    Mechanism.OAUTHBEARER: _OAuthBearer,
}


def new_exchange(sasl: SaslSettings) -> ClientExchange:
    """Return the beginning of an authentication with these settings."""
    return _EXCHANGES[sasl.mechanism](sasl)
