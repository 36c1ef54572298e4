"""A relay before a TLS listener, which reads no frames: a defect there strikes the handshake.

The files of the run are beside the client's file: so a mistake can be the listener itself.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.address import Address
from harness.client.clear_relay import ENTER_TIMEOUT_MS, ClearRelay
from harness.client.entrance import Entrance
from harness.client.tls_clients import Door, TlsClients, tls_clients_in
from harness.proxies import FrameRule, RunningRelay
from harness.targets.secured_cluster import SecuredWay

Sides = tuple[socket.socket, socket.socket]
Errors = Callable[[], list[Exception]]
PEEKED_S = 5.0


class TlsMistake(FrameRule):
    """A rule for handshakes; this one passes all bytes."""

    def sides(self, client: socket.socket, behind: Address, way: SecuredWay) -> Sides:
        """Return the sockets between which bytes pass, of the client and of the broker.

        Raises OSError, BrokerMisbehaved: the connection is reset.
        """
        return client, socket.create_connection(behind, PEEKED_S)


class ListenerInPlace(TlsMistake):
    """A listener with the certificate of the broker, which itself enters the broker.

    It is as strict as a right one with ``ssl.client.auth=requested``, and the broker sees the
    certificate of the client; a subclass makes the mistake.
    """

    def sides(self, client: socket.socket, behind: Address, way: SecuredWay) -> Sides:
        client.settimeout(PEEKED_S)
        entered = self.context(Path(way.file).parent).wrap_socket(client, server_side=True)
        door = self.door(tls_clients_in(Path(way.file)), entered.getpeercert(binary_form=True))
        return entered, Entrance(behind, door).enter(ENTER_TIMEOUT_MS)

    def context(self, folder: Path) -> ssl.SSLContext:
        """Return the context of the listener."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "broker.pem")
        context.load_verify_locations(folder / "ca.pem")
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def door(self, clients: TlsClients, shown: bytes | None) -> Door:
        """Return the way into the broker for a client that has shown this certificate."""
        return clients.showing(clients.certificate(shown))


class TlsRelay(ClearRelay):
    """One relay with one mistake; any other rule changes nothing."""

    def __init__(self, behind: Address, rule: FrameRule, way: SecuredWay) -> None:
        self._rule = rule if isinstance(rule, TlsMistake) else TlsMistake()
        self._at, self._way = behind, way
        super().__init__(behind)

    def _enter(self, client: socket.socket) -> Sides:
        return self._rule.sides(client, self._at, self._way)


@contextmanager
def relay_before(
    behind: Address, rule: FrameRule, way: SecuredWay | None
) -> Iterator[tuple[Address, Errors]]:
    """Yield the address of a relay with a rule, and the errors of the rule so far.

    ``way``: into the broker; None: its listener is PLAINTEXT.
    """
    if way is None or not way.protocol.has_tls:
        with RunningRelay(behind, rule) as relay:
            yield Address(*relay.address), lambda: relay.relay.rule_errors
        return
    before = TlsRelay(behind, rule, way)
    try:
        yield Address(*before.address), list
    finally:
        before.close()
