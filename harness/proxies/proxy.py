"""A listener in front of one upstream: each connection to it becomes one to the upstream."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from harness.base.address import Address
from harness.proxies import hashed_chance
from harness.proxies.clock import new_clock
from harness.proxies.connection import ConnectionPlan, ProxiedConnection
from harness.proxies.counters import Counters
from harness.proxies.direction import Direction
from harness.proxies.event import Event, Listener
from harness.proxies.interceptor import Interceptor
from harness.proxies.limits import LIMITS, ProxyLimits
from harness.proxies.rewriter import Rewriter
from harness.proxies.seen import SeenConnection
from harness.proxies.tap import Tap
from harness.proxies.tls_ends import TlsEnds
from harness.proxies.toxics.chain import Chain, ToxicChange
from harness.proxies.toxics.collection import ToxicCollection
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.watching import Shared

P = ParamSpec("P")
T = TypeVar("T")
BACKLOG = 1024
AT_ONCE = 64  # accepted before others get their turn
KEPT_ERRORS = 100
RETRY_S = 0.1
_TOO_MANY = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
LOCAL = Address("127.0.0.1", 0)


def _nobody(event: Event) -> None:
    """Ignore the event: the default listener of a proxy."""


class Proxy:
    """One link. All of it belongs to the loop that ``start`` ran on.

    Without interceptor and rewriter it finds no frames, unless ``count_frames``; this cannot be
    changed later. ``tell`` is called with each fault. An error of an interceptor or rewriter
    changes nothing; it becomes an event and is kept in ``errors``. ``tap`` observes the sockets.
    ``tls``: TLS ends here, so that frames are seen; without it TLS passes as bytes.
    """

    def __init__(
        self,
        name: str,
        upstream: tuple[str, int],
        *,
        listen: tuple[str, int] = LOCAL,
        source: str = "client",
        destination: str = "broker",
        interceptor: Interceptor | None = None,
        rewriter: Rewriter | None = None,
        count_frames: bool = False,
        seed: int = 0,
        tell: Listener = _nobody,
        now_ms: Callable[[], float] | None = None,
        limits: ProxyLimits = LIMITS,
        tap: Tap | None = None,
        tls: TlsEnds | None = None,
    ) -> None:
        self.name, self.source, self.destination = name, source, destination
        self.upstream, self.listen = Address(*upstream), Address(*listen)
        self.seed, self.limits, self.now_ms = seed, limits, now_ms or new_clock()
        self.interceptor = Interceptor() if interceptor is None else interceptor
        self.counters, self.toxics = Counters(), ToxicCollection()
        self.errors: deque[Exception] = deque(maxlen=KEPT_ERRORS)
        self._tell_event, self._tap, self._tls = tell, tap, tls
        self._open: dict[int, ProxiedConnection] = {}
        self._cut: set[Direction] = set()
        self._accepting: set[asyncio.Task[None]] = set()
        self._connecting: dict[asyncio.Task[None], ProxiedConnection] = {}
        self._listener: socket.socket | None = None
        self._is_accepting = False
        shared = Shared(
            self.interceptor,
            Rewriter() if rewriter is None else rewriter,
            self._guarded,
            self._tls_seen,
            limits,
        )
        self._plan = ConnectionPlan(
            shared=shared,
            counters=self.counters,
            now_ms=self.now_ms,
            chain=self._chain,
            connect=self._dial,
            gone=self._gone,
            is_framed=count_frames or not (interceptor is None and rewriter is None),
        )
        self.toxics.subscribe(self._toxic_changed)

    @property
    def link(self) -> str:
        return f"{self.source}->{self.destination}"

    @property
    def enabled(self) -> bool:
        """True if it listens."""
        return self._listener is not None

    @property
    def connections(self) -> list[ProxiedConnection]:
        """The open connections, oldest first."""
        return list(self._open.values())

    @property
    def cut_directions(self) -> frozenset[Direction]:
        """The directions in which nothing passes now."""
        return frozenset(self._cut)

    @property
    def held_bytes(self) -> int:
        """Bytes that all connections hold together."""
        return sum(connection.held_bytes for connection in self._open.values())

    @property
    def pending_tasks(self) -> int:
        """Connections that are being accepted or made."""
        return len(self._accepting) + len(self._connecting)

    # -- listening --------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen; ``listen`` is the real address then. Raises OSError when it is not available."""
        self.start_now()

    def start_now(self) -> None:
        """Listen, without waiting: for callers on the loop, such as one between two frames."""
        if self._listener:
            return
        _let_large_reads_be_cheap()
        host, port = self.listen
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
        self._listener.setblocking(False)
        self.listen = Address(host, self._listener.getsockname()[1])
        self._accept_on()

    async def stop(self) -> None:
        """Close the listener and every connection at once; no task or socket is left."""
        self._stop_listening()
        for connection in self.connections:  # before the loop reads more of them
            connection.abort()
        await asyncio.gather(*self._accepting, return_exceptions=True)
        while self._connecting or self._open:
            # One that has its socket already ends by itself: uvloop would lose it.
            dials = self._connecting.items()
            tasks = [task for task, one in dials if one.broker.transport is None]
            for task in tasks:
                task.cancel()
            for connection in self.connections:
                connection.abort()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)  # the transports report their end on the loop's next turn

    def drop_unread(self) -> None:
        """Discard frames that are read and not walked yet: a stop need not wait for them.

        Any thread may call this. ``stop`` has to follow on the loop.
        """
        for connection in self.connections:
            connection.drop_unread()

    async def enable(self) -> None:
        """Listen again, at the same port."""
        if not self.enabled:
            await self.start()
            self._tell("enabled")

    async def disable(self) -> None:
        """Refuse connections, and close those that are open."""
        if self.enabled:
            self._tell("disabled", connections=len(self._open))
            await self.stop()

    def _stop_listening(self) -> None:
        if self._listener:
            self._accept_off()
            self._listener.close()
            self._listener = None

    def _accept_on(self) -> None:
        if self._listener and not self._is_accepting:
            self._is_accepting = True
            loop = asyncio.get_running_loop()
            # By number: uvloop keeps a socket that it was given open after its close.
            loop.add_reader(self._listener.fileno(), self._accept, self._listener)

    def _accept_off(self) -> None:
        if self._listener and self._is_accepting:
            self._is_accepting = False
            asyncio.get_running_loop().remove_reader(self._listener.fileno())

    def _accept(self, listener: socket.socket) -> None:
        # Not asyncio's server: it loses sockets that it was just accepting when it is closed.
        for _ in range(AT_ONCE):
            if len(self._open) >= self.limits.connections:
                self._accept_off()  # on again when one is gone
                return
            try:
                accepted, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _TOO_MANY:
                    raise
                self._accept_off()
                asyncio.get_running_loop().call_later(RETRY_S, self._accept_on)
                return
            accepted.setblocking(False)
            task = asyncio.get_running_loop().create_task(self._begin(accepted))
            self._accepting.add(task)
            task.add_done_callback(self._accepting.discard)

    async def _begin(self, accepted: socket.socket) -> None:
        counters = self.counters
        place = SeenConnection(self.source, self.destination, counters.accepted)
        counters.accepted += 1
        counters.open += 1
        connection = ProxiedConnection(self._plan, place)
        for direction in self._cut:
            connection.cut(direction)
        self._open[place.connection] = connection
        try:
            side = self._client_side(connection)
            await asyncio.get_running_loop().connect_accepted_socket(lambda: side, accepted)
        except BaseException:
            accepted.close()
            if connection.client.transport is None:
                self._gone(connection)
            raise

    def _dial(self, connection: ProxiedConnection) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(connection))
        self._connecting[task] = connection
        task.add_done_callback(self._dialled)

    def _dialled(self, task: asyncio.Task[None]) -> None:
        self._connecting.pop(task).dialled()

    async def _connect(self, connection: ProxiedConnection) -> None:
        loop = asyncio.get_running_loop()
        side = self._broker_side(connection)
        try:
            async with asyncio.timeout(self.limits.connect_ms / 1000):
                await loop.create_connection(lambda: side, *self.upstream)
        except OSError:  # TimeoutError is one
            connection.not_connected()
        except asyncio.CancelledError:
            connection.broker.forgotten()
            raise

    def _client_side(self, connection: ProxiedConnection) -> asyncio.Protocol:
        tap, tls, plain = self._tap, self._tls, connection.client
        side = plain if tap is None else tap.client(plain, self.link)
        if tls is None:
            return side
        return tls.accepted(side, self.limits.connect_ms, partial(self._tls_seen, connection.place))

    def _broker_side(self, connection: ProxiedConnection) -> asyncio.Protocol:
        tap, tls, plain = self._tap, self._tls, connection.broker
        side = plain if tap is None else tap.broker(plain, self.link)
        if tls is None:
            return side
        tell = partial(self._tls_seen, connection.place)
        return tls.dialled(side, self.upstream.host, self.limits.connect_ms, tell)

    def _gone(self, connection: ProxiedConnection) -> None:
        if self._open.pop(connection.place.connection, None) is None:
            return
        self.counters.open -= 1
        self._guarded(self._plan.shared.interceptor.closed, connection.place)
        if len(self._open) < self.limits.connections:
            self._accept_on()

    # -- faults of the whole link -----------------------------------------------------------------

    def cut(self, direction: Direction | None = None) -> None:
        """Stop all traffic in one direction or both; new connections are accepted, but silent."""
        directions = _directions(direction)
        self._cut.update(directions)
        for connection in self.connections:
            for one in directions:
                connection.cut(one)
        self._tell("cut", direction)

    def heal(self, direction: Direction | None = None) -> None:
        """Undo a cut; nothing was lost."""
        directions = _directions(direction)
        self._cut.difference_update(directions)
        for connection in self.connections:
            for one in directions:
                connection.heal(one)
        self._tell("healed", direction)

    def reset_connections(self) -> None:
        """Close both ends of all connections by RST."""
        self._tell("reset", connections=len(self._open))
        for connection in self.connections:
            connection.client.reset()
            connection.broker.reset()

    # -- toxics, errors, events -------------------------------------------------------------------

    def _chain(self, place: SeenConnection, direction: Direction, began_ms: float) -> Chain | None:
        """Return the toxics of a stream that began at ``began_ms``; None without any."""
        if not self.toxics.towards(direction):
            return None

        def chance(name: str, nth: int) -> float:
            return hashed_chance.draw(
                self.seed, self.link, place.connection, direction, 0, name, nth
            )

        struck = partial(self._toxic_struck, place)
        now_ms = self.now_ms()  # later than began_ms for a toxic that is added to an old stream
        return self.toxics.chain(direction, chance, began_ms, now_ms=now_ms, struck=struck)

    def _toxic_changed(self, change: ToxicChange, named: NamedToxic) -> None:
        for connection in self.connections:
            connection.toxic_changed(change, named)
        self._tell(f"toxic_{change.value}", named.direction, toxic=named.name)

    def _toxic_struck(self, place: SeenConnection, named: NamedToxic) -> None:
        self._tell_event(
            Event(self.now_ms(), "fired", self.link, place.connection, named.direction,
                  rule=named.name, detail={"toxic": named.toxic.type})
        )  # fmt: skip

    def _tls_seen(self, place: SeenConnection, direction: Direction, text: str) -> None:
        detail = {"text": text}
        self._tell_event(
            Event(self.now_ms(), "tls", self.link, place.connection, direction, detail=detail)
        )

    def _guarded(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return call(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # a rule is somebody else's code
            self.counters.errors += 1
            self.errors.append(error)
            self._tell("error", error=f"{type(error).__name__}: {error}")
            return None

    def _tell(self, what: str, direction: Direction | None = None, **detail: object) -> None:
        self._tell_event(Event(self.now_ms(), what, self.link, direction=direction, detail=detail))


def _let_large_reads_be_cheap() -> None:
    """asyncio reads into 256 KiB each time. The C library (glibc) maps such a block from the system
    and gives it back, which takes longer than the read, until a larger one was freed once.
    """
    bytes(1 << 20)


def _directions(direction: Direction | None) -> tuple[Direction, ...]:
    return tuple(Direction) if direction is None else (direction,)
