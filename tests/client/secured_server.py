"""A listener with TLS and SASL in a thread of the test; it serves ApiVersions behind them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.codec.apis import API_VERSIONS_KEY, api_for_key, api_named
from harness.codec.frame import frame
from harness.codec.header import decode_request_header, encode_response
from harness.codec.message_codec import decode_prefix
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from harness.codec.structs import Message
from harness.security.authority import Signed
from harness.security.scram_keys import salted_password

USER, PASSWORD, TOKEN = "judge", "pass-word-SECRET-1", "token-SECRET-2"
FAILED, UNSUPPORTED, ILLEGAL = 58, 33, 34
SALT, ITERATIONS = b"salt of a test", 4096
OWN_KEYS = (api_named("SaslHandshake").key, api_named("SaslAuthenticate").key)
SERVED = ("ApiVersions", "SaslHandshake", "SaslAuthenticate")


@dataclass
class SecuredServer:
    """``context``: of TLS; None without. ``lifetime_ms``: of each session. ``bare``: it has no
    SaslAuthenticate, as before 1.0. ``behind``: the broker that answers all but SASL."""

    context: ssl.SSLContext | None = None
    mechanisms: tuple[str, ...] = ()
    lifetime_ms: int = 0
    bare: bool = False
    lies: bool = False
    behind: tuple[str, int] | None = None
    port: int = 0
    authenticated: list[str] = field(default_factory=list)
    received: list[str] = field(default_factory=list)

    def attend(self, plain: socket.socket) -> None:
        with suppress(OSError, EOFError, ValueError):
            link = self.context.wrap_socket(plain, server_side=True) if self.context else plain
            with link:
                self._serve(link)

    def _serve(self, link: socket.socket) -> None:
        with ExitStack() as held:
            broker = None
            if self.behind is not None:
                broker = held.enter_context(socket.create_connection(self.behind))
            session = _Session(self, broker)
            while True:
                answer = session.answer(_frame_from(link))
                if answer is None:
                    return
                link.sendall(frame(answer))


class _Session:
    """One connection: what it has authenticated, and the mechanism that goes on."""

    def __init__(self, server: SecuredServer, broker: socket.socket | None) -> None:
        self.server, self.broker = server, broker
        self.is_open = not server.mechanisms
        self.step: Callable[[bytes], bytes | None] | None = None
        self.mechanism = ""

    def answer(self, payload: bytes) -> bytes | None:
        if self.step is not None and self.server.bare:
            found = self.step(payload)
            if found is None:
                return None
            self._note()
            return found
        key = int.from_bytes(payload[:2])
        if self.broker is not None and key not in OWN_KEYS:
            return self._of_broker(self.broker, key, payload)
        header, start = decode_request_header(payload)
        api, version = api_for_key(header.request_api_key), header.request_api_version
        self.server.received.append(api.name)
        message, _ = decode_prefix(api.request, version, payload, start)
        response = self._response(message)
        if response is None:
            return None
        return encode_response(response, version, header.correlation_id)

    def _of_broker(self, broker: socket.socket, key: int, payload: bytes) -> bytes | None:
        """The answer, whatever the bytes are."""
        if not self.is_open and key != API_VERSIONS_KEY:
            return None
        broker.sendall(frame(payload))
        return _frame_from(broker)

    def _response(self, message: Message) -> Message | None:
        match message:
            case ApiVersionsRequest():
                return _versions(self.server)
            case SaslHandshakeRequest(mechanism=mechanism):
                return self._begin(mechanism)
            case SaslAuthenticateRequest(auth_bytes=data):
                return self._go_on(bytes(data))
        return None

    def _begin(self, mechanism: str) -> SaslHandshakeResponse:
        known = list(self.server.mechanisms)
        if not known:
            return SaslHandshakeResponse(error_code=ILLEGAL, mechanisms=[])
        if mechanism not in known:
            return SaslHandshakeResponse(error_code=UNSUPPORTED, mechanisms=known)
        self.mechanism = mechanism
        self.step = _STEPS[mechanism](self.server)
        return SaslHandshakeResponse(error_code=0, mechanisms=known)

    def _go_on(self, data: bytes) -> SaslAuthenticateResponse:
        assert self.step is not None
        found = self.step(data)
        if found is None:
            return SaslAuthenticateResponse(error_code=FAILED, error_message="invalid credentials")
        self._note()
        return SaslAuthenticateResponse(
            auth_bytes=found, session_lifetime_ms=self.server.lifetime_ms
        )

    def _note(self) -> None:
        if getattr(self.step, "is_done", True):
            self.is_open = True
            self.server.authenticated.append(self.mechanism)


def _plain(_: SecuredServer) -> Callable[[bytes], bytes | None]:
    return lambda data: b"" if data == f"\0{USER}\0{PASSWORD}".encode() else None


class _Bearer:
    def __init__(self, _: SecuredServer) -> None:
        self.refused = self.is_done = False

    def __call__(self, data: bytes) -> bytes | None:
        if self.refused:
            return None
        if f"auth=Bearer {TOKEN}\x01".encode() in data:
            self.is_done = True
            return b""
        self.refused = True
        return b'{"status":"invalid_token"}'


class _Scram:
    def __init__(self, server: SecuredServer, digest: str) -> None:
        self.server, self.digest = server, digest
        self.first, self.is_done, self.nonce = "", False, "of-the-server"

    def __call__(self, data: bytes) -> bytes | None:
        text = data.decode()
        if not self.first:
            bare = text.removeprefix("n,,")
            client_nonce = bare.partition("r=")[2]
            salt = base64.b64encode(SALT).decode()
            found = f"r={client_nonce}{self.nonce},s={salt},i={ITERATIONS}"
            self.first = f"{bare},{found}"
            return found.encode()
        bare, _, proof = text.partition(",p=")
        return self._final(f"{self.first},{bare}".encode(), base64.b64decode(proof))

    def _final(self, signed: bytes, proof: bytes) -> bytes | None:
        if len(proof) != hashlib.new(self.digest).digest_size:
            return None
        salted = salted_password(self.digest, PASSWORD, SALT, ITERATIONS)
        client_key = hmac.digest(salted, b"Client Key", self.digest)
        stored = hashlib.new(self.digest, client_key).digest()
        signature = hmac.digest(stored, signed, self.digest)
        if bytes(a ^ b for a, b in zip(proof, signature, strict=True)) != client_key:
            return None
        self.is_done = True
        own = hmac.digest(hmac.digest(salted, b"Server Key", self.digest), signed, self.digest)
        return b"v=" + base64.b64encode(bytes(len(own)) if self.server.lies else own)


_STEPS: dict[str, Callable[[SecuredServer], Callable[[bytes], bytes | None]]] = {
    "PLAIN": _plain,
    "OAUTHBEARER": _Bearer,
    "SCRAM-SHA-256": lambda server: _Scram(server, "sha256"),
    "SCRAM-SHA-512": lambda server: _Scram(server, "sha512"),
}


def _versions(server: SecuredServer) -> ApiVersionsResponse:
    keys = []
    for name in SERVED[:2] if server.bare else SERVED:
        api = api_named(name)
        highest = 0 if server.bare else api.valid_versions.highest
        keys.append(
            ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=0, max_version=highest)
        )
    return ApiVersionsResponse(api_keys=keys)


def _frame_from(link: socket.socket) -> bytes:
    (length,) = struct.unpack(">i", _exactly(link, 4))
    if not 0 <= length < 1 << 20:  # Kafka closes at a size that makes no sense
        raise EOFError
    return _exactly(link, length)


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = link.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def tls(signed: Signed, folder: Path, *, clients: Path | None = None) -> ssl.SSLContext:
    """``clients``: the authority of the clients; they need a certificate then."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed.write_pem(folder / "server.pem"))
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    return context


@contextmanager
def running(server: SecuredServer) -> Iterator[SecuredServer]:
    """Serve on a free port of 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.port = listener.getsockname()[1]

        def accept() -> None:
            with suppress(OSError):
                while True:
                    plain, _ = listener.accept()
                    threading.Thread(target=server.attend, args=[plain], daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield server
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
