"""A frame-aware relay: client -> rule -> broker and back, on one asyncio loop.

Whole frames pass through the rule. What is no frame (an impossible length, the rest of a frame
when a side closes) is passed on as it is. The relay listens on loopback and keeps nothing but
unfinished frames and the queue of unanswered requests. The end of one direction is passed on as
such: the other goes on until it ends too.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from harness.codec import FrameError
from harness.codec.frame import FrameSplitter, frame
from harness.proxies.rule import FrameRule
from harness.proxies.seen import SeenRequest

Address = tuple[str, int]
A = TypeVar("A")
D = TypeVar("D")
T = TypeVar("T")
LIMIT_BYTES = 104_857_600
BACKLOG = 128


class _Side(asyncio.Protocol):
    """One socket of a link; flow control of the one pauses reading from the other."""

    def __init__(self, link: _Link) -> None:
        self.link = link
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None
        self.splitter = FrameSplitter(LIMIT_BYTES)
        self.raw = False  # framing is lost: only pass on
        self.ended = False  # this side sends nothing more
        self.told_end = False  # and this side was told that nothing more comes from the other

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def eof_received(self) -> bool:
        self.end()
        return True  # the other direction goes on

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """Gone altogether: what is left for the other side is still written to it."""
        self.end()
        if self.other:
            self.other.close()
        self.link.lost(self)

    def end(self) -> None:
        """This side sends nothing more: the other is told so; when both have ended, both close."""
        if self.ended:
            return
        self.ended = True
        self.link.ended(self)
        if self.other is None:
            return
        self.other.write_end()
        if self.other.ended:
            self.other.close()
            self.close()

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport and not self.other.ended:
            self.other.transport.resume_reading()

    def write(self, data: bytes) -> None:
        if self.transport and not self.told_end and not self.transport.is_closing():
            self.transport.write(data)

    def write_end(self) -> None:
        """Half-close: our last byte is written, theirs may still come."""
        if self.transport and not self.told_end and not self.transport.is_closing():
            self.told_end = True
            with contextlib.suppress(OSError):  # the peer may have reset meanwhile
                self.transport.write_eof()

    def close(self) -> None:
        if self.transport:
            self.transport.close()

    def abort(self) -> None:
        """Close without waiting for anybody to read."""
        if self.transport:
            self.transport.abort()


class _Client(_Side):
    """Towards the client; exists first, the broker's side is opened for it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        # Not at once: before Python 3.11.5 asyncio begins to read after connection_made even if
        # that has paused, and bytes would come before there is a broker to take them.
        asyncio.get_running_loop().call_soon(self.transport.pause_reading)
        self.link.open()

    def data_received(self, data: bytes) -> None:
        self.link.from_client(data)


class _Broker(_Side):
    """Towards the broker."""

    def data_received(self, data: bytes) -> None:
        self.link.from_broker(data)


class _Link:
    """One client connection and the connection to the broker that is made for it."""

    def __init__(self, relay: Relay) -> None:
        self.relay, self.rule = relay, relay.rule
        self.client, self.broker = _Client(self), _Broker(self)
        self.client.other, self.broker.other = self.broker, self.client
        self.unanswered: deque[SeenRequest] = deque()
        self.ordinal = 0
        self.refused = False  # the rule answered a bad length: the rest is for nobody

    def open(self) -> None:
        self.relay.links.add(self)
        if not self.relay.stopping:
            _keep(self.relay.connecting, self._connect())

    async def _connect(self) -> None:
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: self.broker, *self.relay.upstream
            )
        except OSError:
            self.client.close()
            return
        assert self.client.transport is not None
        if self.client.transport.is_closing():
            self.broker.close()
        else:
            self.client.transport.resume_reading()

    def from_client(self, data: bytes) -> None:
        side = self.client
        if self.refused:
            return
        if side.raw:
            self.broker.write(data)
            return
        payloads, broken = _frames(side, data)
        for payload in payloads:
            self._request(payload)
        if broken:
            self._bad_length(side.splitter.rest())

    def _request(self, payload: bytes) -> None:
        seen = SeenRequest(payload, self.ordinal)
        self.ordinal += 1
        forwarded = self.relay.guarded(self._forwarded, seen, otherwise=payload)
        if forwarded is None:
            return
        sent = seen if forwarded == payload else SeenRequest(forwarded)
        if sent.gets_answer:
            self.unanswered.append(seen)
        self.broker.write(frame(forwarded))

    def _forwarded(self, seen: SeenRequest) -> bytes | None:
        forwarded = self.rule.on_request(seen)
        return None if forwarded is None else _require_bytes(forwarded)

    def _bad_length(self, rest: bytes) -> None:
        (length,) = struct.unpack_from(">i", rest)
        answer = self.relay.guarded(self._answer_to_bad_length, length, otherwise=None)
        if answer is None:
            self.broker.write(rest)
        else:
            self.refused = True
            self.client.write(answer)

    def _answer_to_bad_length(self, length: int) -> bytes | None:
        answer = self.rule.on_bad_length(length)
        return None if answer is None else _require_bytes(answer)

    def from_broker(self, data: bytes) -> None:
        side = self.broker
        if side.raw:
            self.client.write(data)
            return
        payloads, broken = _frames(side, data)
        for payload in payloads:
            if not self.unanswered:
                self.client.write(frame(payload))
                continue
            answers = partial(self._answers, self.unanswered.popleft())
            for out in self.relay.guarded(answers, payload, otherwise=[frame(payload)]):
                self.client.write(out)
        if broken:
            self.client.write(side.splitter.rest())

    def _answers(self, seen: SeenRequest, payload: bytes) -> list[bytes]:
        return [frame(out) for out in self.rule.on_response(seen, payload)]

    def _last_answers(self, seen: SeenRequest) -> list[bytes]:
        return [frame(out) for out in self.rule.on_close(seen)]

    def ended(self, side: _Side) -> None:
        """``side`` sends nothing more: what is no whole frame goes to the other as it is."""
        if not side.raw and side.other:
            side.other.write(side.splitter.rest())
        if side is self.broker and self.unanswered and not self.relay.stopping:
            for out in self.relay.guarded(self._last_answers, self.unanswered[0], otherwise=[]):
                self.client.write(out)

    def lost(self, side: _Side) -> None:
        """The last transport of a link that goes takes the link with it."""
        side.transport = None
        if self.client.transport is None and self.broker.transport is None:
            self.relay.links.discard(self)


def _frames(side: _Side, data: bytes) -> tuple[list[bytes], bool]:
    """The frames that ``data`` completes, and whether a bad length stands behind them."""
    try:
        payloads = side.splitter.feed(data)
    except FrameError:
        payloads = []
    side.raw = side.splitter.broken is not None
    return payloads, side.raw


def _require_bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"a rule must return bytes, not {value!r}")
    return value


def _keep(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    """Start a task; it is in the set for as long as it runs."""
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


class Relay:
    """Listens on loopback and relays to ``upstream`` under ``rule``."""

    def __init__(self, upstream: Address, rule: FrameRule | None = None) -> None:
        self.upstream, self.rule = upstream, rule or FrameRule()
        self.rule_errors: list[Exception] = []  # a rule that raises changes nothing, and is told
        self.links: set[_Link] = set()
        self.accepting: set[asyncio.Task[None]] = set()
        self.connecting: set[asyncio.Task[None]] = set()
        self.stopping = False
        self._listener: socket.socket | None = None

    async def start(self, port: int = 0) -> Address:
        """Returns the address to connect to."""
        self._listener = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
        self._listener.setblocking(False)
        asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)
        host, bound = self._listener.getsockname()
        return host, bound

    def _accept(self, listener: socket.socket) -> None:
        # Not asyncio's server: it loses sockets that it was just accepting when it is closed.
        with contextlib.suppress(BlockingIOError, InterruptedError, ConnectionAbortedError):
            _keep(self.accepting, self._begin(listener.accept()[0]))

    async def _begin(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: _Link(self).client, accepted)

    def guarded(self, call: Callable[[A], T], argument: A, *, otherwise: D) -> T | D:
        """What the rule says; when it raises, ``otherwise``, and the error is kept."""
        try:
            return call(argument)
        except Exception as error:  # noqa: BLE001  # a rule is somebody else's code
            self.rule_errors.append(error)
            return otherwise

    async def stop(self) -> None:
        """Close the listener and every link at once; afterwards no task or socket is left."""
        self.stopping = True
        if self._listener:
            asyncio.get_running_loop().remove_reader(self._listener)
            self._listener.close()
        await asyncio.gather(*self.accepting, return_exceptions=True)
        connecting = list(self.connecting)
        for task in connecting:
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        while self.links:
            for link in self.links:
                link.client.abort()
                link.broker.abort()
            await asyncio.sleep(0)  # the transports tell of their end on the loop's next turn


class RunningRelay:
    """A relay on a thread and loop of its own, for callers that are not asynchronous."""

    def __init__(self, upstream: Address, rule: FrameRule | None = None) -> None:
        self.relay = Relay(upstream, rule)
        self.address: Address = ("", 0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.address = self._run(self.relay.start())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._run(self.relay.stop())
        finally:
            self._end()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
