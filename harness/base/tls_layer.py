"""TLS between a socket and the protocol of its connection, of the broker or of a proxy.

The connection is made before the handshake, so a client that never finishes one takes a place and
is closed when it has been idle for too long, as any other. Nothing is delivered before the
handshake has succeeded; what the connection writes before that waits for it. A handshake that fails
sends its alert, as OpenSSL makes it, and then closes.

asyncio's own TLS makes the connection after the handshake, sends no alert when a certificate is
refused, and cannot end one direction alone. Source: class SslTransportLayer.
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
    """The protocol of a socket: hands what it decrypts to ``inner``, the connection.

    ``server``: the host that the certificate must name, where this side is the client; None: this
    side is the server.
    """

    def __init__(
        self, inner: asyncio.Protocol, context: ssl.SSLContext, server: str | None = None
    ) -> None:
        self.inner = inner
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._begins = server is not None
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_side=not self._begins, server_hostname=server
        )
        self._raw: asyncio.Transport | None = None
        self._early: list[bytes] = []  # written before the handshake has succeeded
        self._ends_early = self._has_ended = False  # our direction, which ends alone
        self._reads = True
        self.is_ready = self._is_over = False

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the socket's transport; the client's side begins the handshake."""
        self._raw = cast("asyncio.Transport", transport)
        self.inner.connection_made(TlsTransport(self._raw, self))
        if self._begins:
            self._go_on()

    def data_received(self, data: bytes) -> None:
        """Go on with the handshake, or decrypt."""
        if not self._is_over:
            self._incoming.write(data)
            self._go_on()

    def eof_received(self) -> bool:
        """Report the end of the peer's stream, also without its close_notify."""
        if not self.is_ready:
            return False
        if self._is_over:
            return True  # the connection knows it by close_notify, and closes when it has answered
        self._is_over = True
        return bool(self.inner.eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        self._raw = None
        self._early.clear()
        self.inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """The peer reads slower than the connection writes."""
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        """The peer has caught up."""
        self.inner.resume_writing()

    # The connection's transport calls these.

    def write(self, data: bytes) -> None:
        """Encrypt and send, behind the handshake."""
        if self.is_ready:
            self._tls.write(data)
            self._flush()
        else:
            self._early.append(data)

    def end_writing(self) -> None:
        """Send close_notify and the end of the stream; what the peer sends is read on."""
        self._ends_early = not self.is_ready
        if self.is_ready and self._raw is not None and self._can_write():
            self._notify_close()
            self._flush()
            self._has_ended = True
            self._raw.write_eof()

    def say_goodbye(self) -> None:
        """Send close_notify; do not wait for that of the peer."""
        if self.is_ready and not self._notify_close():
            self._is_over = True
        self._flush()

    def read(self, *, reads: bool) -> None:
        """Read from the socket, or not; the handshake goes on in any case."""
        self._reads = reads
        if self._raw is None or not self.is_ready:
            return
        if reads:
            self._raw.resume_reading()
        else:
            self._raw.pause_reading()

    @property
    def early_bytes(self) -> int:
        """The number of bytes that wait for the handshake."""
        return sum(map(len, self._early))

    def peer_certificate(self) -> bytes | None:
        """Return the peer's certificate, None without one."""
        return self._tls.getpeercert(binary_form=True) if self.is_ready else None

    # Of subclasses.

    def shook_hands(self) -> None:
        """The handshake has succeeded; nothing is delivered yet."""

    def refused(self, problem: ssl.SSLError) -> None:
        """One side refuses the handshake, or the peer sends what is no TLS; it closes next."""
        _LOG.info("connection closed: TLS: %s", problem.reason or "an error")

    # Between both.

    def _go_on(self) -> None:
        try:
            if self.is_ready or self._shakes_hands():
                self._decrypt()
        except ssl.SSLError as problem:
            self._fail(problem)

    def _shakes_hands(self) -> bool:
        """Take the next step of the handshake; True if it has succeeded. Raises SSLError."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        else:
            self.is_ready = True
            self._begin()
            return True
        finally:
            self._flush()

    def _begin(self) -> None:
        """Do what was asked for before the handshake had succeeded."""
        if not self._reads:
            self.read(reads=False)
        early, self._early = self._early, []
        self.shook_hands()
        for data in early:
            self._tls.write(data)
        if self._ends_early:
            self.end_writing()

    def _notify_close(self) -> bool:
        """Write close_notify; True if that of the peer has come."""
        try:
            self._tls.unwrap()
        except ssl.SSLError:
            return False
        return True

    def _decrypt(self) -> None:
        """Raises SSLError: the peer sends what is no TLS."""
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
            self.inner.data_received(data)
        if has_ended and not self._is_over:
            self._is_over = True
            self.inner.eof_received()

    def _fail(self, problem: ssl.SSLError) -> None:
        self._is_over = True
        self.refused(problem)
        self._flush()
        if self._raw is not None:
            self._raw.close()

    def _flush(self) -> None:
        data = self._outgoing.read()
        if data and self._raw is not None and self._can_write():
            self._raw.write(data)

    def _can_write(self) -> bool:
        return self._raw is not None and not self._has_ended and not self._raw.is_closing()


class TlsTransport(asyncio.Transport):
    """The transport of the connection behind the TLS."""

    def __init__(self, raw: asyncio.Transport, layer: TlsLayer) -> None:
        super().__init__()
        self._raw, self._layer = raw, layer

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As the socket's; and it has a certificate."""
        if name == PEER_CERTIFICATE:
            return self._layer.peer_certificate()
        if name == "ssl_object":
            return self._layer
        return self._raw.get_extra_info(name, default)

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Encrypt and send."""
        if not self._raw.is_closing():
            self._layer.write(bytes(data))

    def can_write_eof(self) -> bool:
        """One direction can end alone."""
        return True

    def write_eof(self) -> None:
        """End this direction, behind all that was written."""
        self._layer.end_writing()

    def get_write_buffer_size(self) -> int:
        """Return the number of encrypted bytes that wait, and of those that wait to be that."""
        return self._raw.get_write_buffer_size() + self._layer.early_bytes

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """As the socket's."""
        self._raw.set_write_buffer_limits(high, low)

    def is_closing(self) -> bool:
        """True if the connection is closed, or about to be."""
        return self._raw.is_closing()

    def pause_reading(self) -> None:
        """Read nothing more from the socket."""
        self._layer.read(reads=False)

    def resume_reading(self) -> None:
        """Read from the socket again."""
        self._layer.read(reads=True)

    def close(self) -> None:
        """Send what was written, and that nothing more comes; then close."""
        if not self._raw.is_closing():
            self._layer.say_goodbye()
            self._raw.close()

    def abort(self) -> None:
        """Close now."""
        self._raw.abort()
