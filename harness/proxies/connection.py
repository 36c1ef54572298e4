"""One client connection, and the connection to the upstream that is made for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from harness.proxies.counters import Counters
from harness.proxies.direction import Direction
from harness.proxies.endpoint import ProxyEndpoint
from harness.proxies.outgoing_stream import ProxyStream
from harness.proxies.requests import RequestWatch
from harness.proxies.responses import ResponseWatch
from harness.proxies.seen import SeenConnection
from harness.proxies.stream import Stream
from harness.proxies.toxics.chain import Chain, ToxicChange
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.unanswered import Unanswered
from harness.proxies.watching import Shared

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM


@dataclass(frozen=True, slots=True)
class ConnectionPlan:
    """The settings and callbacks that a proxy gives to each of its connections."""

    shared: Shared
    counters: Counters
    now_ms: Callable[[], float]
    chain: Callable[
        [SeenConnection, Direction, float], Chain | None
    ]  # place, direction, since when
    connect: Callable[[ProxiedConnection], None]  # begin to connect its broker's side
    gone: Callable[[ProxiedConnection], None]
    is_framed: bool


class ProxiedConnection:
    """Bytes in both directions. The end of one is passed on, the other goes on until its own."""

    def __init__(self, plan: ConnectionPlan, place: SeenConnection) -> None:
        self._plan, self.place = plan, place
        self.began_ms = plan.now_ms()
        self.client, self.broker = self._side(UP), self._side(DOWN)
        self.upstream = self._stream(UP, self.client, self.broker)
        self.downstream = self._stream(DOWN, self.broker, self.client)
        self.requests: RequestWatch | None = None
        self.responses: ResponseWatch | None = None
        self._was_dialled = self._is_dialling = False
        self._is_stopped = False
        if plan.is_framed:
            self._watch(plan.shared)

    def _side(self, direction: Direction) -> ProxyEndpoint:
        plan = self._plan
        return ProxyEndpoint(self, plan.counters.of(direction), plan.shared.limits.linger_ms)

    def _stream(
        self, direction: Direction, source: ProxyEndpoint, destination: ProxyEndpoint
    ) -> Stream:
        plan = self._plan
        make = partial(plan.chain, self.place, direction, self.began_ms)
        way = ProxyStream(destination, make, plan.now_ms, plan.counters.of(direction))
        way.chain = make()
        stream = Stream(way, plan.shared.limits, plan.now_ms, source.pause)
        source.out, destination.into = stream, stream
        return stream

    def _watch(self, shared: Shared) -> None:
        counters = self._plan.counters
        unanswered = Unanswered(counters, shared.limits)
        self.responses = ResponseWatch(
            self.downstream, counters.downstream, self.place, shared, unanswered
        )
        self.requests = RequestWatch(
            self.upstream, counters.upstream, self.place, shared, unanswered, self.responses
        )
        self.responses.requests = self.requests
        self.client.feed = self.requests.feed
        self.broker.feed = self.responses.feed

    @property
    def held_bytes(self) -> int:
        """Bytes that wait here: in frames, steps, toxics and for the sockets."""
        total = self.upstream.held_bytes + self.downstream.held_bytes
        for watch in (self.requests, self.responses):
            total += watch.held_bytes if watch else 0
        for side in (self.client, self.broker):
            total += side.transport.get_write_buffer_size() if side.transport else 0
        return total

    def stream(self, direction: Direction) -> Stream:
        return self.upstream if direction is UP else self.downstream

    # -- what its proxy does with it ------------------------------------------------------------

    def cut(self, direction: Direction) -> None:
        """Stop this direction; nothing is lost."""
        stream = self.stream(direction)
        stream.way.is_cut = True
        stream.run()

    def heal(self, direction: Direction) -> None:
        stream = self.stream(direction)
        if not stream.way.is_cut:
            return
        stream.way.is_cut = False
        stream.way.turn()
        stream.run()
        if direction is UP and self.client.transport:
            self._connect()

    def toxic_changed(self, change: ToxicChange, named: NamedToxic) -> None:
        stream = self.stream(named.direction)
        stream.way.toxic_changed(change, named)
        stream.run()

    def drop_unread(self) -> None:
        """Discard frames that are read and not walked yet. Any thread may call this.

        ``abort`` has to follow on the loop.
        """
        self._is_stopped = True
        for watch in (self.requests, self.responses):
            if watch:
                watch.finder.is_stopped = True

    def abort(self) -> None:
        """Close both sockets now, without asking the interceptor for steps."""
        self.drop_unread()
        self.client.abort()
        self.broker.abort()

    # -- events of its sides ----------------------------------------------------------------------

    def made(self, side: ProxyEndpoint) -> None:
        if self._is_stopped:
            side.abort()
            return
        nobody_waits = side.into.way.is_over  # the client went before its broker was reached
        side.into.way.transport = side.transport
        side.into.run()
        side.into.way.turn()
        if side is self.broker:
            if nobody_waits:
                side.finish()
            return
        # Not at once: before Python 3.11.5 asyncio begins to read after connection_made even if
        # that has paused, and bytes would come before there is a broker to take them.
        asyncio.get_running_loop().call_soon(self.upstream.regulate)
        if self.requests:
            self._open(self.requests)
        if not self.upstream.way.is_cut:
            self._connect()

    def _open(self, requests: RequestWatch) -> None:
        shared = self._plan.shared
        if not shared.interceptor.is_idle:
            steps = requests.steps(shared.interceptor.opened, self.place)
            if steps:
                requests.act(steps)

    def _connect(self) -> None:
        if not self._was_dialled:
            self._was_dialled = self._is_dialling = True
            self._plan.connect(self)

    def dialled(self) -> None:
        """End the attempt to connect: the broker was reached or not, or it was cancelled."""
        self._is_dialling = False
        self._leave()

    def not_connected(self) -> None:
        """Close the client's side: the upstream could not be reached."""
        self._plan.counters.not_connected += 1
        self.client.finish()

    def ended(self, side: ProxyEndpoint) -> None:
        """Pass on what is left from ``side``, then its end: it sends nothing more."""
        if self._is_stopped or side.out.way.is_over:
            return
        if side is self.client and self.requests:
            self.requests.end()
        elif side is self.broker and self.responses:
            self.responses.end()
        else:
            side.out.end()

    def told_end(self, side: ProxyEndpoint) -> None:
        """Note that all towards ``side`` is written, its end too; close the sides that are done."""
        other = self.client if side is self.broker else self.broker
        if side.was_told_end and other.was_told_end:
            side.finish()
            other.finish()
        elif other.transport is None:
            side.finish()

    def lost(self, side: ProxyEndpoint) -> None:
        """Handle the loss of ``side``: what is left for the other side is still written to it."""
        other = self.client if side is self.broker else self.broker
        if not side.is_loose:
            if not side.has_ended:
                side.has_ended = True
                self.ended(side)
            if side.out.way.is_over:
                other.finish()
        self._leave()

    def _leave(self) -> None:
        """Leave the proxy once there is no socket, and none is being connected."""
        if self.client.transport or self.broker.transport or self._is_dialling:
            return
        for watch in (self.requests, self.responses):
            if watch:
                watch.drop()
        self._plan.gone(self)

    def close(self) -> None:
        """Close both sockets by FIN."""
        self.client.finish()
        self.broker.finish()

    def reset(self, side: ProxyEndpoint) -> None:
        """Close by RST the sockets that the step in the stream towards ``side`` names."""
        wanted = side.into.reset_side
        if wanted is None:
            self.client.reset()
            self.broker.reset()
            return
        alone = self.broker if wanted is UP else self.client
        alone.is_loose = True
        alone.reset()
