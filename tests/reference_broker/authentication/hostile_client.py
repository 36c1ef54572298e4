"""A client that keeps no rule, behind TLS or before it."""

from __future__ import annotations

import socket
import ssl
import struct
from contextlib import suppress
from typing import Self

from harness.base.address import Address
from harness.codec.apis import api_named
from harness.codec.frame import frame
from harness.codec.header import decode_response
from harness.codec.messages import SaslAuthenticateResponse
from tests.reference_broker.authentication.exchanges import authenticate, handshake


class HostileClient:
    """``ca`` None: no TLS."""

    def __init__(self, address: Address, ca: str | None) -> None:
        self.socket = socket.create_connection(address, 20)
        if ca is not None:
            context = ssl.create_default_context(cafile=ca)
            self.socket = context.wrap_socket(self.socket, server_hostname=address.host)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> Self:
        """Bytes as they are; the broker may have closed the connection."""
        with suppress(OSError):
            self.socket.sendall(data)
        return self

    def read(self) -> bytes | None:
        """The next frame, None at the end of the stream."""
        head = self._exactly(4)
        return None if head is None else self._exactly(struct.unpack(">i", head)[0])

    def ask(self, payload: bytes) -> bytes | None:
        self.send(frame(payload))
        return self.read()

    def begin(self, mechanism: str, version: int = 1) -> Self:
        answer = self.ask(handshake(mechanism, version))
        assert answer is not None
        assert answer[4:6] == b"\0\0", answer
        return self

    def token(self, token: bytes) -> SaslAuthenticateResponse | None:
        """Send a token in SaslAuthenticate."""
        return self.send(frame(authenticate(token))).answer_to_token()

    def answer_to_token(self) -> SaslAuthenticateResponse | None:
        """The next frame, None at the end of the stream."""
        answer = self.read()
        if answer is None:
            return None
        message = decode_response(api_named("SaslAuthenticate"), 2, answer)[1]
        assert isinstance(message, SaslAuthenticateResponse)
        return message

    def is_closed(self) -> bool:
        """True if the stream ends without another byte."""
        return self._exactly(1) is None

    def _exactly(self, count: int) -> bytes | None:
        data = b""
        while len(data) < count:
            try:
                more = self.socket.recv(count - len(data))
            except (ConnectionError, ssl.SSLError):
                return None
            if not more:
                return None
            data += more
        return data
