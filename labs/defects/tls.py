"""Defects of area TLS: they strike the handshakes before a broker, not its frames."""

from __future__ import annotations

import socket
import ssl
import threading
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.base.address import Address
from harness.client.clear_relay import ENTER_TIMEOUT_MS
from harness.client.connection import Connection
from harness.client.entrance import Entrance
from harness.client.errors import ConnectionClosed
from harness.client.tls_clients import Certificate, Door, TlsClients, tls_clients_in
from harness.codec.messages import ApiVersionsRequest
from harness.targets.secured_cluster import SecuredWay
from labs.defects.defect import rule
from labs.defects.tls_relay import PEEKED_S, ListenerInPlace, Sides, TlsMistake

RECORD_OF_HANDSHAKE = b"\x16"
AWAITED_S = 120
"""Longer than a test waits for an answer."""
AWAITED_AT_ONCE = 4


class PlaintextIsServedToo(TlsMistake):
    """The listener looks at the first byte, and serves a client without TLS."""

    def sides(self, client: socket.socket, behind: Address, way: SecuredWay) -> Sides:
        client.settimeout(PEEKED_S)
        if client.recv(1, socket.MSG_PEEK) in (b"", RECORD_OF_HANDSHAKE):
            return super().sides(client, behind, way)
        door = tls_clients_in(Path(way.file)).showing(Certificate.OWN)
        return client, Entrance(behind, door).enter(ENTER_TIMEOUT_MS)


class FewHandshakesAtOnce(TlsMistake):
    """The listener resets a client while it awaits the first record of four others."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(AWAITED_AT_ONCE)

    def sides(self, client: socket.socket, behind: Address, way: SecuredWay) -> Sides:
        if not self._free.acquire(blocking=False):
            raise ConnectionRefusedError
        try:
            client.settimeout(AWAITED_S)
            with suppress(OSError):
                client.recv(1, socket.MSG_PEEK)
        finally:
            self._free.release()
        return super().sides(client, behind, way)


class ARequiredCertificateMayBeMissing(ListenerInPlace):
    """A listener that requires certificates serves a client without one."""

    def sides(self, client: socket.socket, behind: Address, way: SecuredWay) -> Sides:
        if _serves_without_certificate(behind, way):
            return TlsMistake.sides(self, client, behind, way)
        return super().sides(client, behind, way)

    def door(self, clients: TlsClients, shown: bytes | None) -> Door:
        found = clients.certificate(shown)
        return clients.showing(Certificate.OWN if found is Certificate.NONE else found)


class AllCertificatesAreOneUser(ListenerInPlace):
    """Every client with a trusted certificate is the user of the first one."""

    def door(self, clients: TlsClients, shown: bytes | None) -> Door:
        found = clients.certificate(shown)
        return clients.showing(found if found is Certificate.NONE else Certificate.OWN)


class ObsoleteVersionsAreSpoken(ListenerInPlace):
    """The listener speaks TLS 1.0 and 1.1."""

    def context(self, folder: Path) -> ssl.SSLContext:
        context = super().context(folder)
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            context.minimum_version = ssl.TLSVersion.TLSv1
        return context


def _serves_without_certificate(behind: Address, way: SecuredWay) -> bool:
    door = tls_clients_in(Path(way.file)).showing(Certificate.NONE)
    try:
        with Connection(behind, door=door) as connection:
            connection.ask(ApiVersionsRequest(), 0)
    except ConnectionClosed:
        return False
    return True


DEFECTS = [
    rule("TLS-001", r"is the answer to plaintext", PlaintextIsServedToo),
    replace(
        rule("TLS-002", r"no certificate is served", ARequiredCertificateMayBeMissing),
        private=True,
    ),
    rule("TLS-003", r"error is NONE", AllCertificatesAreOneUser),
    rule("TLS-004", r"TLSv1(\.1)? is spoken", ObsoleteVersionsAreSpoken),
    rule("TLS-005", r"clients beside them: ", FewHandshakesAtOnce),
]
