"""TLS that ends at a proxy: its listener has a certificate of ours, and it enters the broker anew.

Between both the bytes are plain, so frames are found, shown to rules and rewritten as on a listener
without TLS. SASL passes: the client authenticates itself at the broker.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from harness.base.tls_layer import TlsLayer
from harness.proxies.direction import Direction

TellTls = Callable[[Direction, str], None]
"""Called with the direction in which a handshake failed, and a text about it."""
_REMEDIES = {
    "UNKNOWN_CA": "it needs the authority of the proxy in its truststore",
    "CERTIFICATE_UNKNOWN": "it needs the authority of the proxy in its truststore",
    "BAD_CERTIFICATE": "it needs the authority of the proxy in its truststore, and a host name "
    "that the certificate of the proxy has",
    "HTTP_REQUEST": "it speaks HTTP",
    "WRONG_VERSION_NUMBER": "it speaks no TLS: security.protocol must be SSL or SASL_SSL",
    "RECORD_LAYER_FAILURE": "it speaks no TLS: security.protocol must be SSL or SASL_SSL",
}
"""For clients, by the last words of OpenSSL's reason."""


@dataclass(frozen=True, slots=True)
class TlsEnds:
    """``clients``: the context of the listener, with a certificate for the hosts by which clients
    reach the proxy. ``broker``: that of the connections to the upstream; where it checks hosts,
    the certificate there has to be for the upstream's."""

    clients: ssl.SSLContext
    broker: ssl.SSLContext

    def accepted(self, side: asyncio.Protocol, limit_ms: float, tell: TellTls) -> asyncio.Protocol:
        """Return the protocol of an accepted socket, behind which ``side`` sees plain bytes."""
        return ProxyTls(side, self.clients, None, limit_ms, partial(tell, Direction.UPSTREAM))

    def dialled(
        self, side: asyncio.Protocol, host: str, limit_ms: float, tell: TellTls
    ) -> asyncio.Protocol:
        """Return the protocol of a socket to the upstream at this host."""
        return ProxyTls(side, self.broker, host, limit_ms, partial(tell, Direction.DOWNSTREAM))


class ProxyTls(TlsLayer):
    """One TLS end of a connection. It is closed when the handshake takes longer than the limit.

    Towards the broker the side is slow until the handshake has succeeded, so that the client's
    requests wait at the client.
    """

    def __init__(
        self,
        side: asyncio.Protocol,
        context: ssl.SSLContext,
        server: str | None,
        limit_ms: float,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(side, context, server)
        self._server, self._limit_ms, self._tell = server, limit_ms, tell
        self._timer: asyncio.TimerHandle | None = None
        self._is_told = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, with a limit of time."""
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._limit_ms / 1000, self._takes_too_long)
        super().connection_made(transport)
        if self._server is not None and not self.is_ready:
            self.inner.pause_writing()

    def shook_hands(self) -> None:
        """Let the requests of the client come."""
        self._stop_timer()
        if self._server is not None:
            self.inner.resume_writing()

    def refused(self, problem: ssl.SSLError) -> None:
        """Report the side that refuses, and the remedy where it is known."""
        self._say(self._in_words(problem))

    def eof_received(self) -> bool:
        """Report an end in the place of a handshake."""
        self._say_if_early()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock, and report a reset in the place of a handshake.

        A broker without TLS closes while bytes of the handshake are unread, which resets.
        """
        self._stop_timer()
        if exc is not None:
            self._say_if_early()
        super().connection_lost(exc)

    def _say_if_early(self) -> None:
        if not self.is_ready:
            self._say(f"{self._peer} ended the connection in the TLS handshake with the proxy")

    @property
    def _peer(self) -> str:
        return "the client" if self._server is None else "the broker"

    def _in_words(self, problem: ssl.SSLError) -> str:
        reason = problem.reason or "an error"
        if isinstance(problem, ssl.SSLCertVerificationError):
            reason = f"{reason}: {problem.verify_message}"
        begin = f"TLS between the proxy and {self._peer} failed: {reason}"
        if self._server is not None:
            return f"{begin}; the proxy enters {self._server} by the settings for its brokers"
        known = (text for end, text in _REMEDIES.items() if reason.endswith(end))
        remedy = next(known, "")
        return f"{begin}: {remedy}" if remedy else begin

    def _takes_too_long(self) -> None:
        self._say(f"{self._peer} does not finish the TLS handshake with the proxy")
        if self._raw is not None:
            self._raw.abort()

    def _say(self, text: str) -> None:
        if not self._is_told:
            self._is_told = True
            self._tell(text)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
