"""The sockets of a broker; none is left when the broker stops."""

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.base.ending_signals import run_until_signal
from harness.base.operating_system import raise_descriptor_limit
from harness.reference_broker.allocator import keep_freed_memory
from harness.reference_broker.connection import ClientConnection
from harness.reference_broker.connection_places import Admission, ConnectionPlaces
from harness.reference_broker.descriptors import is_spared, spared
from harness.reference_broker.listener_protocols import protocol_of
from harness.reference_broker.node import Node
from harness.reference_broker.outbound_limit import OutboundLimit
from harness.reference_broker.request_memory import RequestMemory
from harness.reference_broker.settings import (
    BrokerSettings,
    SettingError,
    answer_memory_bytes,
    request_memory_bytes,
    uncounted_request_bytes,
)
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER
from harness.reference_broker.wall_clock import now_ms
from harness.security.settings import SecurityProtocol

if TYPE_CHECKING:
    from harness.reference_broker.authentication.listener_security import ListenerSecurity

_PLAINTEXT = "PLAINTEXT://"
_CONNECTIONS_ARE_LIMITED = (2, 3)  # KIP-402; seen on 1.1.1
_TURNS_OF_ACCEPTING = 6  # from a socket that asyncio has accepted to `connection_made`
_ACCEPTED_AT_ONCE = 100  # asyncio's own backlog
_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - refused, not bound


class BrokerServer:
    """One listener: accepts connections for a node and serves them until it is closed."""

    def __init__(self, settings: BrokerSettings, listener: str = CLIENT_LISTENER) -> None:
        self._settings, self._listener = settings, listener
        self._server: asyncio.Server | None = None
        limits_all = settings.like.since(*_CONNECTIONS_ARE_LIMITED)
        self._places = ConnectionPlaces(self._config, self._throttle_ms, limits_all=limits_all)
        self._memory = RequestMemory(
            request_memory_bytes(settings), uncounted_request_bytes(settings)
        )
        self._untaken = OutboundLimit(answer_memory_bytes())
        self._security = _security_of(settings, listener)
        self._all_gone = asyncio.Event()
        self.node: Node | None = None

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Run a broker on its own at `host`; port 0 takes a free one.

        Returns the advertised address.
        """
        bound_port = await self.bind(host, port)
        address = advertised_address(self._settings, host, bound_port)
        node = Node(self._settings, *address)
        node.add_users(self._settings.scram_users)
        await self.serve(node)
        for upkeep in node.upkeep:
            upkeep.start()
        return address

    async def bind(self, host: str, port: int) -> int:
        """Bind the port, 0 for a free one, and return it; clients are not served yet."""
        loop = asyncio.get_running_loop()
        at_once = max(min(_ACCEPTED_AT_ONCE, spared() // 2), 1)
        self._server = await loop.create_server(
            self._connection, host, port, backlog=at_once, start_serving=False
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def serve(self, node: Node) -> None:
        """Accept connections for `node`."""
        assert self._server is not None
        self.node = node
        await self._server.start_serving()

    async def close(self) -> None:
        """Stop listening, drop every connection and waiting request."""
        for upkeep in self.node.upkeep if self.node is not None else ():
            upkeep.stop()
        if self._server is not None:
            await self._stop_accepting(self._server)
        for connection in self._places.connections:
            connection.abort()
        while not self._places.are_free:
            self._all_gone.clear()
            await self._all_gone.wait()
        await asyncio.sleep(0)  # what was aborted closes its socket in the next turn

    async def _stop_accepting(self, server: asyncio.Server) -> None:
        """Stop accepting, and wait for sockets that asyncio has accepted and not handed out.

        asyncio would leave those open when the server closes; meanwhile it accepts no others.
        """
        loop = asyncio.get_running_loop()
        for listening in server.sockets:
            loop.remove_reader(listening.fileno())
        for _ in range(_TURNS_OF_ACCEPTING):
            await asyncio.sleep(0)
        server.close()

    def _connection(self) -> asyncio.Protocol:
        assert self.node is not None
        number, security = self._settings.number, self._security
        connection = ClientConnection(
            self.node,
            self._memory,
            self._untaken,
            number("socket.request.max.bytes"),
            number("connections.max.idle.ms"),
            self._listener,
            self._take,
            self._forget,
            security,
        )
        return connection if security is None else security.behind_tls(connection)

    def _config(self, name: str) -> str | None:
        assert self.node is not None
        return self.node.state.configs.value(name)

    def _throttle_ms(self, ip: str) -> int:
        assert self.node is not None
        return self.node.state.client_quotas.connected(ip, now_ms())

    def _take(self, connection: ClientConnection) -> Admission:
        """Give a new connection a place, unless there are too many."""
        if is_spared(connection.descriptor):
            return Admission.REFUSED
        return self._places.take(connection)

    def _forget(self, connection: ClientConnection) -> None:
        self._places.leave(connection)
        if self._places.are_free:
            self._all_gone.set()


def _security_of(settings: BrokerSettings, listener: str) -> "ListenerSecurity | None":
    """Return the security of a listener, None of a PLAINTEXT one. Raises SettingError."""
    if protocol_of(settings, listener) is SecurityProtocol.PLAINTEXT:
        return None
    # Not at the start: most brokers have no such listener.
    from harness.reference_broker.authentication.listener_security import ListenerSecurity

    return ListenerSecurity(settings, listener)


def advertised_address(settings: BrokerSettings, host: str, bound_port: int) -> tuple[str, int]:
    """Return the advertised address: advertised.listeners if set, else the bound address.

    Raises SettingError when clients could not use it.
    """
    text = settings.text("advertised.listeners")
    if text:
        name, separator, port = text.removeprefix(_PLAINTEXT).rpartition(":")
        if not text.startswith(_PLAINTEXT) or not separator or not name or not port.isdigit():
            raise SettingError(
                f"advertised.listeners is written PLAINTEXT://HOST:PORT, not {text!r}"
            )
        return name, int(port)
    if host in _WILDCARDS:
        raise SettingError(
            f"clients cannot connect to {host!r}: set advertised.listeners=PLAINTEXT://HOST:PORT "
            "to the address that they use"
        )
    return host, bound_port


async def serve(
    host: str,
    port: int,
    settings: BrokerSettings,
    on_listening: Callable[[str, int], None],
) -> None:
    """Serve until cancelled; call `on_listening` with host and port when clients can connect."""
    server = BrokerServer(settings)
    try:
        on_listening(*await server.start(host, port))
        await asyncio.get_running_loop().create_future()
    finally:
        await server.close()


def run_broker(host: str, port: int, settings: BrokerSettings) -> None:
    """Serve until SIGINT or SIGTERM; print one line when listening.

    Raises SettingError and OSError when the broker cannot listen.
    """
    keep_freed_memory()
    raise_descriptor_limit()
    run_until_signal(serve(host, port, settings, _announce))


def _announce(host: str, port: int) -> None:
    sys.stdout.write(f"listening on {host}:{port}\n")
    sys.stdout.flush()
