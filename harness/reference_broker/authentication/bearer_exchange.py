"""The broker's side of SASL/OAUTHBEARER (RFC 7628, KIP-255).

Theory: the client sends its token in one message. A broker that takes it is done; one that refuses
it says why in JSON, which is no error yet: the client acknowledges by the byte 0x01 alone, and gets
the error then. A message of another form is an error at once.

| state | event | next | the client gets |
|---|---|---|---|
| new, refused | a message with a token that is taken | complete | an empty token |
| new, refused | a message with a token that is not taken | refused | the reason in JSON |
| new, refused | a message of another form | failed | CredentialsRefused, without a reason |
| new, refused | a token of another user than the authorization id | failed | CredentialsRefused |
| new, refused | another scheme than Bearer | failed | ExchangeBroken, as seen on 4.4.0 |
| refused | 0x01 | failed | CredentialsRefused with the JSON |

Source: classes OAuthBearerSaslServer, OAuthBearerClientInitialResponse.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from harness.reference_broker.authentication.errors import CredentialsRefused, ExchangeBroken
from harness.reference_broker.authentication.unsecured_tokens import TokenRefused

_ACKNOWLEDGEMENT = b"\x01"
_PAIR = r"[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01"
_FIRST = re.compile(
    rf"n,(?:a=(?P<authorized>(?:[^=,\x00\x80-\U0010ffff]|=2C|=3D)+))?,\x01(?P<pairs>(?:{_PAIR})*)\x01"
)
_BEARER = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)
_KEY = "auth"


class BearerToken(NamedTuple):
    """A token that is taken: its user, and the milliseconds until it expires."""

    user: str
    life_ms: int


class BearerState(StrEnum):
    """See the table of the module."""

    NEW = "new"
    REFUSED = "refused"
    COMPLETE = "complete"
    FAILED = "failed"


class BearerServer:
    """One authentication; ``take`` reads a token, or raises TokenRefused."""

    def __init__(self, take: Callable[[str], BearerToken]) -> None:
        self.state = BearerState.NEW
        self.user = ""
        self.by_token = False
        self.life_ms: int | None = None
        self._take, self._reason = take, ""

    @property
    def is_complete(self) -> bool:
        """True if a token was taken."""
        return self.state is BearerState.COMPLETE

    def evaluate(self, token: bytes) -> bytes:
        """Return the broker's next token. Raises CredentialsRefused, ExchangeBroken."""
        before, self.state = self.state, BearerState.FAILED
        if before is BearerState.REFUSED and token == _ACKNOWLEDGEMENT:
            raise CredentialsRefused(self._reason)
        authorized, bearer = _read(token.decode(errors="replace"))
        try:
            found = self._take(bearer)
        except TokenRefused as refused:
            self.state, self._reason = BearerState.REFUSED, f'{{"status":"{refused.status}"}}'
            return self._reason.encode()
        if authorized not in ("", found.user):
            raise CredentialsRefused(
                f"Authentication failed: Client requested an authorization id ({authorized}) that "
                f"is different from the token's principal name ({found.user})"
            )
        self.user, self.life_ms = found
        self.state = BearerState.COMPLETE
        return b""


def _read(text: str) -> tuple[str, str]:
    """Return authorization id and token of a first message.

    Raises CredentialsRefused, ExchangeBroken.
    """
    found = _FIRST.fullmatch(text)
    if found is None:
        raise CredentialsRefused
    pairs = dict(pair.partition("=")[::2] for pair in found["pairs"].split("\x01") if pair)
    bearer = _BEARER.fullmatch(pairs.get(_KEY, ""))
    if bearer is None:
        raise CredentialsRefused
    if bearer["scheme"].lower() != "bearer":
        raise ExchangeBroken("another scheme than Bearer")
    return found["authorized"] or "", bearer["token"]
