"""Sessions of the broker's SASL with users of their own, and the client's side of SCRAM."""

from __future__ import annotations

import base64
from typing import NamedTuple

from harness.codec.apis import api_named, api_of
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    UserScramCredentialRecord,
)
from harness.codec.structs import Message
from harness.reference_broker.authentication.plain_exchange import PlainServer
from harness.reference_broker.authentication.sasl_session import (
    Denial,
    Reply,
    SaslRules,
    SaslSession,
    TokenExchange,
)
from harness.reference_broker.authentication.scram_exchange import ScramServer, TokenCredential
from harness.reference_broker.state.credentials.scram_credentials import ScramCredentials
from harness.security.scram_keys import (
    client_key,
    masked,
    salted_password,
    server_key,
    signature,
    signed_text,
    stored_key,
)

USERS = {"judge": "pass-word", "other": "other-word"}
SALT, ITERATIONS, NONCE = b"salt of a test", 4096, "of-the-broker"
SCRAM, PLAIN = "SCRAM-SHA-256", "PLAIN"
DIGEST = "sha256"
PLAIN_TOKEN = b"\0judge\0pass-word"


def credentials() -> ScramCredentials:
    found = ScramCredentials()
    for user, password in USERS.items():
        salted = salted_password(DIGEST, password, SALT, ITERATIONS)
        found.put(
            UserScramCredentialRecord(
                name=user,
                mechanism=1,
                salt=SALT,
                stored_key=stored_key(DIGEST, client_key(DIGEST, salted)),
                server_key=server_key(DIGEST, salted),
                iterations=ITERATIONS,
            )
        )
    return found


def scram() -> ScramServer:
    known = credentials()
    return ScramServer(DIGEST, lambda user: next(iter(known.of(user).values()), None), NONCE)


def scram_by_token(left_ms: int = 5_000) -> ScramServer:
    """A token with the id `token` of the owner `judge`, and the password of that user."""
    credential = next(iter(credentials().of("judge").values()))
    tokens = {"token": TokenCredential("judge", credential, lambda: left_ms)}
    return ScramServer(DIGEST, lambda _: None, NONCE, tokens.get)


def new_session(max_session_ms: int = 0) -> SaslSession:
    def exchange(mechanism: str) -> TokenExchange:
        return PlainServer(USERS.get) if mechanism == PLAIN else scram()

    def serves(key: int, version: int) -> bool:
        return key in _SERVED and version in _SERVED[key].valid_versions

    return SaslSession(SaslRules([PLAIN, SCRAM], exchange, serves, max_session_ms))


_SERVED = {
    api.key: api
    for api in map(api_named, ("ApiVersions", "SaslHandshake", "SaslAuthenticate", "Metadata"))
}


class Final(NamedTuple):
    """The client-final message of a client with the password, and the signature to expect."""

    bare: str
    proof: bytes
    expected: str

    @property
    def token(self) -> bytes:
        return f"{self.bare},p={base64.b64encode(self.proof).decode()}".encode()


def final_of(
    first: str, challenge: bytes, password: str = USERS["judge"], nonce: str | None = None
) -> Final:
    """``nonce``: another one than the broker's, and then a right proof with it."""
    told = dict(part.partition("=")[::2] for part in challenge.decode().split(","))
    salted = salted_password(DIGEST, password, base64.b64decode(told["s"]), int(told["i"]))
    binding = base64.b64encode(first[: first.index("n=", 1)].encode()).decode()
    bare = f"c={binding},r={told['r'] if nonce is None else nonce}"
    signed = signed_text(first[first.index("n=", 1) :], challenge.decode(), bare)
    key = client_key(DIGEST, salted)
    proof = masked(key, signature(DIGEST, stored_key(DIGEST, key), signed))
    own = signature(DIGEST, server_key(DIGEST, salted), signed)
    return Final(bare, proof, f"v={base64.b64encode(own).decode()}")


def handshake(mechanism: str = PLAIN, version: int = 1) -> bytes:
    return encode_request(SaslHandshakeRequest(mechanism=mechanism), version, 1)


def authenticate(token: bytes, version: int = 2) -> bytes:
    return encode_request(SaslAuthenticateRequest(auth_bytes=token), version, 2)


def read(step: object, request: type[Message], version: int) -> Message:
    """Decode the answer of a step, or of a refusal that has one."""
    assert isinstance(step, (Reply, Denial)), step
    assert step.payload is not None, step
    return decode_response(api_of(request), version, step.payload)[1]
