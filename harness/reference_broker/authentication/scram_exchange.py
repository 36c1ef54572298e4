"""The broker's side of SCRAM (RFC 5802, RFC 7677; KIP-84).

Theory: the password never travels. The broker keeps ``StoredKey = H(ClientKey)`` and ``ServerKey``,
both made of the salted password. The client sends ``ClientKey xor HMAC(StoredKey, AuthMessage)``;
the broker takes the mask off and hashes what is left, which is StoredKey only if the client had the
password. ``AuthMessage`` has the nonces of both sides, so a proof is of no use in another exchange.
With the extension ``tokenauth=true`` the name is the id of a delegation token, the password its
HMAC, and the client is the token's owner (KIP-48).
The broker's signature by ServerKey proves to the client that the broker has the credential.

| state | event | next | the client gets |
|---|---|---|---|
| new | client-first of a known user or token | challenged | both nonces, the salt, the iterations |
| new | an unknown user or token, another form | failed | the credentials are invalid |
| new | an authorization id that is not the name | failed | that sentence |
| challenged | client-final with the nonces and a right proof | complete | the broker's signature |
| challenged | another nonce, a wrong proof, another form | failed | the credentials are invalid |
| challenged | a proof of another length than the hash | failed | nothing: the exchange is broken |
| complete, failed | any token | failed | nothing: the exchange is broken |

Kafka does not compare ``c=`` with the header of client-first: it is signed by the client. Here the
nonce has to be equal; Kafka accepts one that ends with it. Source: class ScramSaslServer.
"""

import base64
import hmac
import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from harness.reference_broker.authentication.errors import CredentialsRefused, ExchangeBroken
from harness.reference_broker.state.credentials.scram_credentials import ScramCredential
from harness.security.scram_keys import masked, signature, signed_text, stored_key

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_FIRST = re.compile(
    rf"n,(?:a=(?P<authorized>{_NAME}))?,(?:m={_VALUE},)?"
    rf"n=(?P<name>{_NAME}),r=(?P<nonce>{_PRINTABLE})(?P<extensions>{_EXTENSIONS})"
)
_FINAL = re.compile(
    rf"c=(?P<binding>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS},p=(?P<proof>{_BASE64})"
)
_BY_TOKEN = "tokenauth"  # noqa: S105 - the name of an extension
_OTHER_IDENTITY = (
    "Authentication failed: Client requested an authorization id that is different from username"
)


class ScramServerState(StrEnum):
    """See the table of the module."""

    NEW = "new"
    CHALLENGED = "challenged"
    COMPLETE = "complete"
    FAILED = "failed"


class TokenCredential(NamedTuple):
    """A delegation token as a way in; ``left_ms`` returns the time until it expires."""

    owner: str
    credential: ScramCredential
    left_ms: Callable[[], int]


class ScramServer:
    """One authentication.

    ``digest`` is the name of the hash, ``credential_of`` returns None for an unknown user,
    ``token_of`` for an unknown token, and ``nonce`` is printable, has no comma and is used in no
    other exchange.
    """

    def __init__(
        self,
        digest: str,
        credential_of: Callable[[str], ScramCredential | None],
        nonce: str,
        token_of: Callable[[str], TokenCredential | None] = lambda _: None,
    ) -> None:
        self.state = ScramServerState.NEW
        self.user = ""
        self._digest, self._credential_of, self._own_nonce = digest, credential_of, nonce
        self._token_of = token_of
        self._token: TokenCredential | None = None
        self._credential: ScramCredential | None = None
        self._client_first = self._server_first = self._nonce = ""

    @property
    def by_token(self) -> bool:
        """True if the client names a delegation token that exists."""
        return self._token is not None

    @property
    def life_ms(self) -> int | None:
        """The time until the token expires; None of a user's own credential."""
        return None if self._token is None else self._token.left_ms()

    @property
    def is_complete(self) -> bool:
        """True if the client has proved the password."""
        return self.state is ScramServerState.COMPLETE

    def evaluate(self, token: bytes) -> bytes:
        """Return the broker's next message. Raises CredentialsRefused, ExchangeBroken."""
        before, self.state = self.state, ScramServerState.FAILED
        try:
            text = token.decode()
        except UnicodeDecodeError:
            raise CredentialsRefused from None
        if before is ScramServerState.NEW:
            answer = self._challenge(text)
            self.state = ScramServerState.CHALLENGED
        elif before is ScramServerState.CHALLENGED:
            answer = self._verify(text)
            self.state = ScramServerState.COMPLETE
        else:
            raise ExchangeBroken(f"a token in the state {before}")
        return answer.encode()

    def _challenge(self, text: str) -> str:
        first = _FIRST.fullmatch(text)
        if first is None:
            raise CredentialsRefused
        name = first["name"].replace("=2C", ",").replace("=3D", "=")
        self._find_credential(name, first["extensions"])
        if self._credential is None:
            raise CredentialsRefused
        if first["authorized"] not in (None, name):
            raise CredentialsRefused(_OTHER_IDENTITY)
        self._nonce = first["nonce"] + self._own_nonce
        # As Kafka signs it: without a reserved extension, m=.
        self._client_first = f"n={first['name']},r={first['nonce']}{first['extensions']}"
        salt = base64.b64encode(self._credential.salt).decode()
        self._server_first = f"r={self._nonce},s={salt},i={self._credential.iterations}"
        return self._server_first

    def _find_credential(self, name: str, extensions: str) -> None:
        pairs = dict(part.partition("=")[::2] for part in extensions.split(","))
        if pairs.get(_BY_TOKEN, "").lower() != "true":
            self.user, self._credential = name, self._credential_of(name)
            return
        self._token = self._token_of(name)
        if self._token is not None:
            self.user, self._credential = self._token.owner, self._token.credential

    def _verify(self, text: str) -> str:
        credential, final = self._credential, _FINAL.fullmatch(text)
        assert credential is not None, "a challenge has a credential"
        if final is None or final["nonce"] != self._nonce:
            raise CredentialsRefused
        bare = f"c={final['binding']},r={final['nonce']}"
        signed = signed_text(self._client_first, self._server_first, bare)
        mask = signature(self._digest, credential.stored_key, signed)
        proof = base64.b64decode(final["proof"])
        if len(proof) != len(mask):
            raise ExchangeBroken("a proof of another length than the hash")
        found = stored_key(self._digest, masked(proof, mask))
        if not hmac.compare_digest(found, credential.stored_key):
            raise CredentialsRefused
        own = signature(self._digest, credential.server_key, signed)
        return f"v={base64.b64encode(own).decode()}"
