"""TLS between a socket and the protocol of its connection.

The connection is made before the handshake, so a client that never finishes one takes a place and
is closed when it has been idle for too long, as any other. Nothing is delivered before the
handshake has succeeded; one that fails sends its alert, as OpenSSL makes it, and then closes.

asyncio's own TLS makes the connection after the handshake, and sends no alert when a certificate
is refused. Source: class SslTransportLayer.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any, cast

_LOG = logging.getLogger(__name__)
_READ_BYTES = 64 * 1024
PEER_CERTIFICATE = "peer_certificate"
"""Extra information of the transport: the client's verified certificate as DER, or None."""


class TlsLayer(asyncio.Protocol):
    """The protocol of a socket: hands what it decrypts to ``inner``, the connection."""

    def __init__(self, inner: asyncio.Protocol, context: ssl.SSLContext) -> None:
        self._inner = inner
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._raw: asyncio.Transport | None = None
        self._is_ready = self._is_over = False

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the socket's transport."""
        self._raw = cast("asyncio.Transport", transport)
        self._inner.connection_made(TlsTransport(self._raw, self))

    def data_received(self, data: bytes) -> None:
        """Go on with the handshake, or decrypt."""
        if self._is_over:
            return
        self._incoming.write(data)
        try:
            if self._is_ready or self._shakes_hands():
                self._decrypt()
        except ssl.SSLError as problem:
            self._fail(problem)

    def eof_received(self) -> bool:
        """Report the end of the client's stream, also without its close_notify."""
        if not self._is_ready:
            return False
        if self._is_over:
            return True  # the connection knows it by close_notify, and closes when it has answered
        self._is_over = True
        return bool(self._inner.eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        self._raw = None
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """The client reads slower than the broker writes."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._inner.resume_writing()

    # The connection's transport calls these.

    def write(self, data: bytes) -> None:
        """Encrypt and send."""
        self._tls.write(data)
        self._flush()

    def say_goodbye(self) -> None:
        """Send close_notify; do not wait for that of the client."""
        if self._is_ready:
            try:
                self._tls.unwrap()
            except ssl.SSLError:
                self._is_over = True
        self._flush()

    def peer_certificate(self) -> bytes | None:
        """Return the client's certificate, None without one."""
        return self._tls.getpeercert(binary_form=True) if self._is_ready else None

    # Between both.

    def _shakes_hands(self) -> bool:
        """Take the next step of the handshake; True if it has succeeded. Raises SSLError."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        else:
            self._is_ready = True
            return True
        finally:
            self._flush()

    def _decrypt(self) -> None:
        """Raises SSLError: the client sends what is no TLS."""
        pieces: list[bytes] = []
        has_ended = False
        try:
            while not has_ended:
                piece = self._tls.read(_READ_BYTES)
                pieces.append(piece)
                has_ended = not piece
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            has_ended = True
        self._flush()
        data = b"".join(pieces)
        if data:
            self._inner.data_received(data)
        if has_ended and not self._is_over:
            self._is_over = True
            self._inner.eof_received()

    def _fail(self, problem: ssl.SSLError) -> None:
        _LOG.info("connection closed: TLS: %s", problem.reason or "an error")
        self._is_over = True
        self._flush()
        if self._raw is not None:
            self._raw.close()

    def _flush(self) -> None:
        data = self._outgoing.read()
        if data and self._raw is not None and not self._raw.is_closing():
            self._raw.write(data)


class TlsTransport(asyncio.Transport):
    """The transport of the connection behind the TLS."""

    def __init__(self, raw: asyncio.Transport, layer: TlsLayer) -> None:
        super().__init__()
        self._raw, self._layer = raw, layer

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As the socket's; it has no ``socket`` to write to, and it has a certificate."""
        if name == PEER_CERTIFICATE:
            return self._layer.peer_certificate()
        if name == "ssl_object":
            return self._layer
        return self._raw.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Encrypt and send."""
        if not self._raw.is_closing():
            self._layer.write(bytes(data))

    def get_write_buffer_size(self) -> int:
        """Return the number of encrypted bytes that wait."""
        return self._raw.get_write_buffer_size()

    def is_closing(self) -> bool:
        """True if the connection is closed, or about to be."""
        return self._raw.is_closing()

    def pause_reading(self) -> None:
        """Read nothing more from the socket."""
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        """Read from the socket again."""
        self._raw.resume_reading()

    def close(self) -> None:
        """Send what was written, and that nothing more comes; then close."""
        if not self._raw.is_closing():
            self._layer.say_goodbye()
            self._raw.close()

    def abort(self) -> None:
        """Close now."""
        self._raw.abort()
