"""The credentials by which a listener is entered, for tests that authenticate themselves."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace

from harness.security.doors import door_at
from harness.security.errors import ExchangeFailed
from harness.security.mechanisms import ClientExchange, new_exchange
from harness.security.scram_keys import salted_password
from harness.security.secret import Secret
from harness.security.settings import Mechanism, SaslSettings, SecurityProtocol

__all__ = ["ClientExchange", "ExchangeFailed"]
PLAIN, BEARER = Mechanism.PLAIN.value, Mechanism.OAUTHBEARER.value
_BEARER = Mechanism.OAUTHBEARER
_DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
SCRAM = (Mechanism.SCRAM_SHA_256.value, Mechanism.SCRAM_SHA_512.value)


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user and its password, which ``repr`` does not show."""

    _sasl: SaslSettings

    @property
    def user(self) -> str:
        """The name."""
        return self._sasl.username

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms by which this user can enter."""
        return tuple(each.value for each in self._sasl.mechanisms if each is not _BEARER)

    @property
    def has_unsecured_tokens(self) -> bool:
        """True if the listener takes tokens of this user without a signature."""
        return _BEARER in self._sasl.mechanisms

    def with_wrong_password(self) -> Credentials:
        """Return those of the same user with another password."""
        return self.of(self.user, f"{self._sasl.password.reveal()}-wrong")

    def of(self, user: str, password: str) -> Credentials:
        """Return those of another user."""
        return Credentials(replace(self._sasl, username=user, password=Secret(password)))

    def of_token(self, token_id: str, secret: bytes) -> Credentials:
        """Return those of a delegation token; ``secret`` is its HMAC (KIP-48)."""
        entered = self.of(token_id, base64.b64encode(secret).decode())
        return Credentials(replace(entered._sasl, by_delegation_token=True))

    def begin(self, mechanism: str) -> ClientExchange:
        """Return the client's side of an authentication by this mechanism."""
        return new_exchange(replace(self._sasl, mechanism=Mechanism(mechanism)))

    def plain_token(self, *, authorized: str = "", user: str | None = None) -> bytes:
        """Return the token of PLAIN; ``user``: another one, with this password."""
        name = self.user if user is None else user
        return f"{authorized}\0{name}\0{self._sasl.password.reveal()}".encode()


def protocol_at(address: tuple[str, int]) -> str:
    """Return the security protocol by which a listener is entered, such as PLAINTEXT."""
    door = door_at(address)
    protocol = SecurityProtocol.PLAINTEXT if door is None else door.settings.protocol
    return protocol.value


def credentials_at(address: tuple[str, int]) -> Credentials | None:
    """Return the credentials for a listener; None where it has no SASL, or no password is known."""
    door = door_at(address)
    sasl = None if door is None else door.settings.sasl
    return Credentials(sasl) if sasl is not None and sasl.username else None


def scram_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    """Return the salted password of a user, for AlterUserScramCredentials."""
    return salted_password(_DIGESTS[mechanism], password, salt, iterations)
