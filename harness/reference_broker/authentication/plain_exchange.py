"""The broker's side of SASL/PLAIN (RFC 4616): one token with the name and the password.

The token is ``[authzid] NUL user NUL password``. Source: class PlainSaslServer.
"""

import hmac
from collections.abc import Callable

from harness.reference_broker.authentication.errors import CredentialsRefused

_TOKENS = 3
_MOST_TOKENS = 4
"""Kafka does not count further."""
_FAILED = "Authentication failed: "


class PlainServer:
    """One authentication; ``password_of`` returns None for an unknown user."""

    def __init__(self, password_of: Callable[[str], str | None]) -> None:
        self._password_of = password_of
        self.is_complete = False
        self.user = ""
        self.by_token = False
        self.life_ms: int | None = None

    def evaluate(self, token: bytes) -> bytes:
        """Return the empty last token of the broker. Raises CredentialsRefused."""
        parts = token.decode(errors="replace").split("\0")
        if len(parts) != _TOKENS:
            count = min(len(parts), _MOST_TOKENS)
            raise CredentialsRefused(
                f"Invalid SASL/PLAIN response: expected {_TOKENS} tokens, got {count}"
            )
        authorized, user, password = parts
        if not user:
            raise CredentialsRefused(f"{_FAILED}username not specified")
        if not password:
            raise CredentialsRefused(f"{_FAILED}password not specified")
        expected = self._password_of(user)
        if expected is None or not hmac.compare_digest(expected.encode(), password.encode()):
            raise CredentialsRefused(f"{_FAILED}Invalid username or password")
        if authorized not in ("", user):
            raise CredentialsRefused(
                f"{_FAILED}Client requested an authorization id that is different from username"
            )
        self.user, self.is_complete = user, True
        return b""
