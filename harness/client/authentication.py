"""The SASL exchange on a connection (KIP-43, KIP-152, KIP-368), before any request of a test.

| state | event | next |
|---|---|---|
| connected | ApiVersions v0, on the first connection by a door only | known |
| known | SaslHandshake is answered without an error | begun |
| known | SaslHandshake is answered with an error | refused |
| begun | SaslAuthenticate (after SaslHandshake v0 its bare token) is answered | begun |
| begun | it is answered, and the mechanism has said all | authenticated |
| begun | it is answered with an error, or the broker does not prove itself | refused |

A session that has a life goes through it again on the same connection, from SaslHandshake on.
Nothing of the exchange reaches a transcript, an observer or the evidence.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import TypeVar, cast

from harness.client.errors import EntryRefused
from harness.codec import CodecError
from harness.codec.apis import api_named, api_of
from harness.codec.error_code import ErrorCode
from harness.codec.frame import LENGTH_BYTES, frame
from harness.codec.header import DEFAULT_CLIENT_ID, decode_response, encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from harness.codec.structs import Message, Request
from harness.security.doors import Door
from harness.security.errors import ExchangeFailed
from harness.security.mechanisms import ClientExchange, new_exchange

M = TypeVar("M", bound=Message)
CORRELATION_ID = 0x7FFF_FFF8
"""Far from those of the tests."""
ANSWER_LIMIT_BYTES = 1 << 20
BARE_TOKENS, WITH_REQUESTS = 0, 1
"""Versions of SaslHandshake: what follows it."""
_CREDENTIALS = "Correct the user name, the password or the token in the client's file."


class FrameLink:
    """Requests and answers one at a time on a socket, until a deadline."""

    def __init__(self, sock: socket.socket, timeout_ms: float) -> None:
        self._socket, self._deadline = sock, time.monotonic() + timeout_ms / 1000

    def ask(self, request: Request[M], version: int) -> M:
        """Raises OSError, TimeoutError, EntryRefused: what comes is no answer."""
        payload = encode_request(request, version, CORRELATION_ID, DEFAULT_CLIENT_ID)
        try:
            came = self.exchange(payload)
            correlation_id, answer = decode_response(
                api_of(type(request)), version, came, tolerant=True
            )
        except CodecError as problem:
            raise _no_broker(str(problem)) from problem
        if correlation_id != CORRELATION_ID:
            raise _no_broker(f"correlation id {correlation_id}")
        return cast("M", answer)

    def exchange(self, payload: bytes) -> bytes:
        """Send a frame and return the next one. Raises OSError, TimeoutError, EntryRefused."""
        self._arm()
        self._socket.sendall(frame(payload))
        (length,) = struct.unpack(">i", self._exactly(LENGTH_BYTES))
        if not 0 <= length <= ANSWER_LIMIT_BYTES:
            raise _no_broker(f"a frame of length {length}")
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            self._arm()
            more = self._socket.recv(count - len(data))
            if not more:
                raise ConnectionResetError("end of the stream")
            data += more
        return data

    def _arm(self) -> None:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the deadline has passed")
        self._socket.settimeout(left_s)


def authenticate(link: FrameLink, door: Door) -> int:
    """Go through the exchange; return the milliseconds that the session lives, 0 without an end.

    Raises EntryRefused, OSError, TimeoutError.
    """
    sasl = door.settings.sasl
    assert sasl is not None, "only a door with SASL needs an authentication"
    versions = _versions(link, door)
    handshake = _highest(versions, "SaslHandshake")
    follows = min(handshake, WITH_REQUESTS)
    response = link.ask(SaslHandshakeRequest(mechanism=sasl.mechanism.value), follows)
    _require_mechanism(response, sasl.mechanism.value)
    exchange = new_exchange(sasl)
    try:
        if follows == BARE_TOKENS:
            return _by_bare_tokens(link, exchange)
        return _by_requests(link, exchange, _highest(versions, "SaslAuthenticate"))
    except ExchangeFailed as problem:
        raise EntryRefused(f"{sasl.mechanism}: {problem}", _CREDENTIALS) from problem


def _versions(link: FrameLink, door: Door) -> dict[int, tuple[int, int]]:
    """Asked for once for each door."""
    if door.sasl_versions is None:
        listed = link.ask(ApiVersionsRequest(), 0)
        door.sasl_versions = {
            each.api_key: (each.min_version, each.max_version) for each in listed.api_keys
        }
    return door.sasl_versions


def _highest(versions: dict[int, tuple[int, int]], name: str) -> int:
    api = api_named(name)
    _, highest = versions.get(api.key, (0, 0))
    return min(highest, api.valid_versions.highest)


def _require_mechanism(answer: SaslHandshakeResponse, mechanism: str) -> None:
    if answer.error_code == ErrorCode.NONE:
        return
    known = ", ".join(answer.mechanisms) or "none"
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        raise EntryRefused(
            f"UNSUPPORTED_SASL_MECHANISM: the listener does not know {mechanism}; it knows {known}",
            "Correct sasl.mechanism.",
        )
    error = ErrorCode.describe(answer.error_code)
    raise EntryRefused(
        f"SaslHandshake is answered with {error}",
        "A listener without SASL does so: correct the address or security.protocol.",
    )


def _by_requests(link: FrameLink, exchange: ClientExchange, version: int) -> int:
    message: bytes | None = exchange.first()
    lifetime_ms = 0
    while message is not None:
        answer = link.ask(SaslAuthenticateRequest(auth_bytes=message), version)
        if answer.error_code != ErrorCode.NONE:
            error = ErrorCode.describe(answer.error_code)
            raise EntryRefused(f"{error}: {answer.error_message}", _CREDENTIALS)
        lifetime_ms = answer.session_lifetime_ms
        message = exchange.following(answer.auth_bytes)
    return lifetime_ms


def _by_bare_tokens(link: FrameLink, exchange: ClientExchange) -> int:
    """A broker without SaslAuthenticate (before 1.0) closes in place of an error."""
    message: bytes | None = exchange.first()
    while message is not None:
        message = exchange.following(link.exchange(message))
    return 0


def _no_broker(why: str) -> EntryRefused:
    return EntryRefused(
        f"the listener does not answer the SASL authentication as Kafka does: {why}",
        "Correct the address or security.protocol: a TLS listener does so.",
    )
