"""The sockets of a broker: one task a connection, ended without a trace when the broker stops."""

import asyncio
import logging
import signal
import sys
from collections import Counter
from collections.abc import Callable

from harness.codec.frame import frame
from harness.reference_broker.connection import FrameRefused, FrameStream
from harness.reference_broker.node import Node, RequestRejected
from harness.reference_broker.settings import BrokerSettings, SettingError

_LOG = logging.getLogger(__name__)
_PLAINTEXT = "PLAINTEXT://"
_TURNS_OF_ACCEPTING = 6  # from a socket that asyncio has accepted to `connection_made`
_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104 - refused, not bound


class BrokerServer:
    """Accepts connections for one node and serves them until it is closed."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams: set[FrameStream] = set()
        self._by_ip: Counter[str] = Counter()
        self.node: Node | None = None

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen at `host`; port 0 takes a free one. Returns the address that clients are told."""
        loop = asyncio.get_running_loop()
        limit_bytes = self._settings.number("socket.request.max.bytes")
        idle_ms = self._settings.number("connections.max.idle.ms")
        self._server = await loop.create_server(
            lambda: _ServedStream(self, limit_bytes, idle_ms), host, port, start_serving=False
        )
        bound_port = int(self._server.sockets[0].getsockname()[1])
        address = advertised_address(self._settings, host, bound_port)
        self.node = Node(self._settings, *address)
        await self._server.start_serving()
        return address

    async def close(self) -> None:
        """Stop listening, drop every connection and waiting request, wait for their tasks."""
        if self._server is not None:
            await self._stop_accepting(self._server)
        for stream in list(self._streams):
            stream.abort()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # what was aborted closes its socket in the next turn

    async def _stop_accepting(self, server: asyncio.Server) -> None:
        """asyncio leaves a socket open that it accepted before the server is closed and not yet
        handed out: so those are waited for, while no others are taken."""
        loop = asyncio.get_running_loop()
        for listening in server.sockets:
            loop.remove_reader(listening.fileno())
        for _ in range(_TURNS_OF_ACCEPTING):
            await asyncio.sleep(0)
        server.close()

    def accept(self, stream: FrameStream) -> None:
        """Serve a new connection, unless there are too many of them already."""
        assert stream.transport is not None
        ip = str(stream.transport.get_extra_info("peername", ("?",))[0])
        too_many = len(self._streams) >= self._settings.number("max.connections") or self._by_ip[
            ip
        ] >= self._settings.number("max.connections.per.ip")
        if too_many:
            _LOG.info("connection from %s refused: there are too many", ip)
            stream.abort()
            return
        self._streams.add(stream)
        self._by_ip[ip] += 1
        task = asyncio.get_running_loop().create_task(self._serve(stream))
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._forget(done, stream, ip))

    def _forget(self, task: "asyncio.Task[None]", stream: FrameStream, ip: str) -> None:
        self._tasks.discard(task)
        self._streams.discard(stream)
        self._by_ip[ip] -= 1
        if not self._by_ip[ip]:
            del self._by_ip[ip]

    async def _serve(self, stream: FrameStream) -> None:
        try:
            while (payload := await stream.next_frame()) is not None:
                response = await self._respond(stream, payload)
                if response is not None:
                    await stream.send(frame(response))
        except (RequestRejected, FrameRefused) as reason:
            _LOG.info("connection closed: %s", reason)
        except _ClientGone:
            pass
        except asyncio.CancelledError:
            stream.abort()
            raise
        except Exception:  # noqa: BLE001 - one bad request must not end the broker
            _LOG.exception("a request failed, its connection is closed")
        finally:
            stream.close()

    async def _respond(self, stream: FrameStream, payload: bytes) -> bytes | None:
        """Answer, unless the client goes away first: what waits for it is dropped then."""
        assert self.node is not None
        answer = asyncio.ensure_future(self.node.respond(payload))
        try:
            await asyncio.sleep(0)  # most requests are answered without waiting
            if not answer.done():
                either: set[asyncio.Future[bytes | None] | asyncio.Future[None]]
                either = {answer, stream.gone}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise _ClientGone
        finally:
            answer.cancel()


class _ClientGone(Exception):
    """The client left while its request waited."""


class _ServedStream(FrameStream):
    """A stream that reports to its server."""

    def __init__(self, server: BrokerServer, limit_bytes: int, idle_ms: int) -> None:
        super().__init__(limit_bytes, idle_ms)
        self._owner = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._owner.accept(self)


def advertised_address(settings: BrokerSettings, host: str, bound_port: int) -> tuple[str, int]:
    """What clients are told: advertised.listeners if set, else what is listened at.

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
    """Serve until cancelled. `on_listening` is told host and port when clients may come."""
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
    asyncio.run(_run_until_signal(host, port, settings))


def _announce(host: str, port: int) -> None:
    sys.stdout.write(f"listening on {host}:{port}\n")
    sys.stdout.flush()


async def _run_until_signal(host: str, port: int, settings: BrokerSettings) -> None:
    loop = asyncio.get_running_loop()
    serving = loop.create_task(serve(host, port, settings, _announce))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    try:
        await serving
    except asyncio.CancelledError:
        if not serving.cancelled():
            raise
