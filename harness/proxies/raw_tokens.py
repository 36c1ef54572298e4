"""The tokens of SASL without a header, which follow SaslHandshake v0 in both directions.

Each token is in a frame of its own, and is any bytes: where a header would be, its first bytes may
look like an API. A client sends a token, waits for that of the broker, and so on; their number
depends on the mechanism (PLAIN one, SCRAM two), and the client knows when it is authenticated. The
next frame of a client is then a request.

| state | answer to SaslHandshake v0 | a frame of the client | becomes |
|---|---|---|---|
| NONE | FIRST | is a request | |
| FIRST | | is a token, whatever it has | MORE |
| MORE | | with an API and a version of it that exist: a request | NONE |
| MORE | | any other: a token | MORE |

No second token of a mechanism begins with an API: SCRAM's begins with ``c=``, that of Kerberos with
a tag or it is empty, that of OAUTHBEARER behind an error is one byte. Source: classes
SaslServerAuthenticator, SaslClientAuthenticator of Kafka.
"""

from __future__ import annotations

from enum import Enum, auto

from harness.codec.apis import APIS

SASL_HANDSHAKE_V0 = (17, 0)


class TokenState(Enum):
    """See the table."""

    NONE = auto()
    FIRST = auto()
    MORE = auto()


class RawTokens:
    """The state of one connection."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = TokenState.NONE

    def answered(self, api_key: int, version: int) -> None:
        """Note the answer to a request of this kind."""
        if (api_key, version) == SASL_HANDSHAKE_V0:
            self.state = TokenState.FIRST

    def takes(self, api_key: int, version: int) -> bool:
        """True if the client's frame that begins like this is a token."""
        if self.state is TokenState.MORE and _is_request(api_key, version):
            self.state = TokenState.NONE
        if self.state is TokenState.NONE:
            return False
        self.state = TokenState.MORE
        return True


def _is_request(api_key: int, version: int) -> bool:
    api = APIS.get(api_key)
    return api is not None and version in api.valid_versions
