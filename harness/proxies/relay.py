"""A frame-aware relay: client -> rule -> broker and back, on one asyncio loop.

Whole frames pass through the rule. What is no frame (an impossible length, the rest of a frame
when a side closes) is passed on as it is. The relay listens on loopback and keeps nothing but
unfinished frames and the queue of unanswered requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from harness.codec import FrameError
from harness.codec.frame import FrameSplitter, frame
from harness.proxies.rule import FrameRule, SeenRequest

Address = tuple[str, int]
A = TypeVar("A")
D = TypeVar("D")
T = TypeVar("T")
LIMIT_BYTES = 104_857_600


class _Side(asyncio.Protocol):
    """One socket of a link; flow control of the one pauses reading from the other."""

    def __init__(self, link: _Link) -> None:
        self.link = link
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None
        self.splitter = FrameSplitter(LIMIT_BYTES)
        self.raw = False  # framing is lost: only pass on

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def pause_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other and self.other.transport:
            self.other.transport.resume_reading()

    def write(self, data: bytes) -> None:
        if self.transport and not self.transport.is_closing():
            self.transport.write(data)

    def close(self) -> None:
        if self.transport:
            self.transport.close()


class _Client(_Side):
    """Towards the client; exists first, the broker's side is opened for it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        self.transport.pause_reading()
        self.link.open()

    def data_received(self, data: bytes) -> None:
        self.link.from_client(data)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self.link.client_gone()


class _Broker(_Side):
    """Towards the broker."""

    def data_received(self, data: bytes) -> None:
        self.link.from_broker(data)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self.link.broker_gone()


class _Link:
    """One client connection and the connection to the broker that is made for it."""

    def __init__(self, relay: Relay) -> None:
        self.relay, self.rule = relay, relay.rule
        self.client, self.broker = _Client(self), _Broker(self)
        self.client.other, self.broker.other = self.broker, self.client
        self.unanswered: deque[SeenRequest] = deque()
        self.ordinal = 0

    def open(self) -> None:
        task = asyncio.get_running_loop().create_task(self._connect())
        self.relay.tasks.add(task)
        task.add_done_callback(self.relay.tasks.discard)

    async def _connect(self) -> None:
        self.relay.links.add(self)
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
        if side.raw:
            self.broker.write(data)
            return
        try:
            payloads = side.splitter.feed(data)
            for payload in payloads:
                self._request(payload)
            if side.splitter.broken:
                side.splitter.feed(b"")
        except FrameError:
            self._bad_length(side.splitter.rest())

    def _request(self, payload: bytes) -> None:
        seen = SeenRequest(payload, self.ordinal)
        self.ordinal += 1
        forwarded = self.relay.guarded(self.rule.on_request, seen, otherwise=payload)
        if forwarded is None:
            return
        if seen.gets_answer:
            self.unanswered.append(seen)
        self.broker.write(frame(forwarded))

    def _bad_length(self, rest: bytes) -> None:
        (length,) = struct.unpack_from(">i", rest)
        answer = self.relay.guarded(self.rule.on_bad_length, length, otherwise=None)
        self.client.raw = True
        if answer is None:
            self.broker.write(rest)
        else:
            self.client.write(answer)

    def from_broker(self, data: bytes) -> None:
        for payload in self.broker.splitter.feed(data):
            if not self.unanswered:
                self.client.write(frame(payload))
                continue
            seen = self.unanswered.popleft()
            on_response = partial(self.rule.on_response, seen)
            for out in self.relay.guarded(on_response, payload, otherwise=[payload]):
                self.client.write(frame(out))

    def broker_gone(self) -> None:
        self.client.write(self.broker.splitter.rest())
        if self.unanswered:
            for out in self.relay.guarded(self.rule.on_close, self.unanswered[0], otherwise=[]):
                self.client.write(frame(out))
        self.client.close()
        self.relay.links.discard(self)

    def client_gone(self) -> None:
        if not self.client.raw:
            self.broker.write(self.client.splitter.rest())
        self.broker.close()
        self.relay.links.discard(self)


class Relay:
    """Listens on loopback and relays to ``upstream`` under ``rule``."""

    def __init__(self, upstream: Address, rule: FrameRule | None = None) -> None:
        self.upstream, self.rule = upstream, rule or FrameRule()
        self.rule_errors: list[Exception] = []  # a rule that raises changes nothing, and is told
        self.links: set[_Link] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, port: int = 0) -> Address:
        """Returns the address to connect to."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Link(self).client, "127.0.0.1", port)
        host, bound = self._server.sockets[0].getsockname()[:2]
        return host, bound

    def guarded(self, call: Callable[[A], T], argument: A, *, otherwise: D) -> T | D:
        """What the rule says; when it raises, ``otherwise``, and the error is kept."""
        try:
            return call(argument)
        except Exception as error:  # noqa: BLE001  # a rule is somebody else's code
            self.rule_errors.append(error)
            return otherwise

    async def stop(self) -> None:
        """Close the listener and every link."""
        if self._server:
            self._server.close()
        for task in list(self.tasks):
            task.cancel()
        for link in list(self.links):
            link.client.close()
            link.broker.close()
        await asyncio.sleep(0)  # lets the transports run their close callbacks


class RunningRelay:
    """A relay on a thread and loop of its own, for callers that are not asynchronous."""

    def __init__(self, upstream: Address, rule: FrameRule | None = None) -> None:
        self.relay = Relay(upstream, rule)
        self.address: Address = ("", 0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.address = self._run(self.relay.start())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(TimeoutError):
            self._run(self.relay.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)
