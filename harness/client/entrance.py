"""The way of a connection to its listener: TCP, then TLS and SASL where the address has a door."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import suppress

from harness.client.authentication import FrameLink, authenticate
from harness.client.errors import ConnectionClosed, EntryRefused, ResponseTimeout
from harness.client.tls_refusal import certificate_wanted, tls_refusal
from harness.security.doors import Door, door_at

ALERT_S = 1.0
RENEWED_SHARE = 0.85
"""Of a session's life: as Kafka's client, which begins between 85 and 95 % of it (KIP-368)."""


class Entrance:
    """The way to one address, gone once by :meth:`enter`."""

    def __init__(self, address: tuple[str, int], door: Door | None = None) -> None:
        """``door``: in place of the one that the address has."""
        self._address = address
        self._door = door_at(address) if door is None else door
        self._renew_at = float("inf")
        self.was_heard = False
        """True when a byte of the broker has come."""

    @property
    def event(self) -> str:
        """The description of the way, for a transcript."""
        if self._door is None:
            return "connected"
        settings = self._door.settings
        by = f" by {settings.sasl.mechanism}" if settings.sasl else ""
        return f"connected, {settings.protocol}{by}"

    def enter(self, timeout_ms: float, *, authenticates: bool = True) -> socket.socket:
        """Return the socket behind TLS and, if the client ``authenticates`` itself, behind SASL.

        Raises ConnectionClosed, EntryRefused, ResponseTimeout; then nothing stays open.
        """
        plain = _connected(self._address, timeout_ms)
        if self._door is None:
            return plain
        entered = plain
        try:
            entered = self._with_tls(plain, self._door)
            if authenticates:
                self._authenticate(entered, self._door, timeout_ms)
        except BaseException:
            entered.close()
            plain.close()
            raise
        return entered

    def must_renew(self) -> bool:
        """True if most of the session's life has passed."""
        return time.monotonic() >= self._renew_at

    def renew(self, entered: socket.socket, timeout_ms: float) -> None:
        """Authenticate again on the same connection. Raises EntryRefused, ResponseTimeout."""
        assert self._door is not None, "a session ends only where there is one"
        self._authenticate(entered, self._door, timeout_ms)

    def lost(self, entered: socket.socket, problem: OSError) -> ConnectionClosed:
        """Return the error of a connection that broke while it was in use.

        TLS 1.3 shows only then that the listener wants a certificate, by an alert that may wait
        behind a write that failed.
        """
        if isinstance(entered, ssl.SSLSocket) and not self.was_heard:
            with suppress(ValueError):
                problem = _alert_behind(entered) or problem
        if certificate_wanted(problem):
            return tls_refusal(problem, self._address)
        return ConnectionClosed(f"the broker closed the connection: {problem}")

    def _with_tls(self, plain: socket.socket, door: Door) -> socket.socket:
        if door.context is None:
            return plain
        try:
            return door.context.wrap_socket(plain, server_hostname=self._address[0])
        except TimeoutError as problem:
            raise ResponseTimeout("the listener does not answer the TLS handshake") from problem
        except (OSError, ValueError) as problem:
            raise tls_refusal(problem, self._address) from problem

    def _authenticate(self, entered: socket.socket, door: Door, timeout_ms: float) -> None:
        if door.settings.sasl is None:
            return
        begun = time.monotonic()
        try:
            lifetime_ms = authenticate(FrameLink(entered, timeout_ms), door)
        except TimeoutError as problem:
            raise ResponseTimeout("no answer to the SASL authentication") from problem
        except ssl.SSLError as problem:
            raise tls_refusal(problem, self._address) from problem
        except OSError as problem:
            raise EntryRefused(
                f"the listener closed the connection in the SASL authentication: {problem}",
                "A TLS listener does so, and a broker that refuses the password without a word: "
                "correct security.protocol or the password.",
            ) from problem
        life_s = RENEWED_SHARE * lifetime_ms / 1000
        self._renew_at = begun + life_s if lifetime_ms else float("inf")


def _alert_behind(entered: ssl.SSLSocket) -> OSError | None:
    try:
        entered.settimeout(ALERT_S)
        entered.recv(1)
    except OSError as alert:
        return alert
    return None


def _connected(address: tuple[str, int], timeout_ms: float) -> socket.socket:
    try:
        plain = socket.create_connection(address, timeout_ms / 1000)
    except TimeoutError as error:
        raise ResponseTimeout(f"no connection to {address} in {timeout_ms:.0f} ms") from error
    except OSError as error:
        raise ConnectionClosed(f"cannot connect to {address[0]}:{address[1]}: {error}") from error
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain
