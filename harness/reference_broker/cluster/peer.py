"""A connection to another node, for one purpose: responses come in the order of the requests.

It is opened for the first request, and again after it broke; waiting requests fail then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from harness.codec.apis import api_of
from harness.codec.error_code import ErrorCode
from harness.codec.errors import DecodeError
from harness.codec.frame import frame
from harness.codec.header import decode_response, encode_request
from harness.codec.structs import Message, Request
from harness.reference_broker.cluster.answers import AnswerProtocol
from harness.reference_broker.state.registrations.brokers import Endpoint

if TYPE_CHECKING:
    from harness.reference_broker.cluster.link_security import LinkSecurity

M = TypeVar("M", bound=Message)


class PeerGone(Exception):
    """There is no answer: the node cannot be reached, has gone, or sends nonsense."""


class Peer:
    """``where`` returns the node's address at each connect, or None while it is unknown."""

    def __init__(
        self,
        where: Callable[[], Endpoint | None],
        client_id: str,
        timeout_ms: int,
        security: LinkSecurity | None = None,
    ) -> None:
        """``security``: the way into the node's listener; None: it is PLAINTEXT."""
        self._where, self._client_id, self._security = where, client_id, security
        self._timeout_s = timeout_ms / 1000
        self._connecting = asyncio.Lock()
        self._transport: asyncio.Transport | None = None
        self._answers: AnswerProtocol | None = None
        self._waiting: deque[asyncio.Future[bytes]] = deque()
        self._correlation_id = 0

    async def ask(self, message: Request[M], version: int, more_ms: int = 0) -> M:
        """Send a request and await the response.

        ``more_ms``: additional time for which the node may hold the response. Raises PeerGone.
        """
        answer = await self._exchange(self._encoded(message, version), more_ms)
        return cast("M", self._decoded(message, version, answer))

    def _encoded(self, message: Message, version: int) -> bytes:
        self._correlation_id += 1
        return encode_request(message, version, self._correlation_id, self._client_id)

    def _decoded(self, message: Message, version: int, answer: bytes) -> Message:
        try:
            return decode_response(api_of(type(message)), version, answer)[1]
        except DecodeError as error:
            self.close()
            raise PeerGone(f"an answer that cannot be read: {error}") from error

    async def _exchange(self, payload: bytes, more_ms: int) -> bytes:
        try:
            async with asyncio.timeout(self._timeout_s + more_ms / 1000):
                transport = await self._connected()
                return await self._written(transport, payload)
        except TimeoutError as error:
            self.close()
            raise PeerGone("no answer in time") from error
        except OSError as error:
            self.close()
            raise PeerGone(str(error)) from error

    async def _written(self, transport: asyncio.Transport, payload: bytes) -> bytes:
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append(answered)
        transport.write(frame(payload))
        return await answered

    async def _connected(self) -> asyncio.Transport:
        async with self._connecting:
            if self._transport is None:
                at = self._where()
                if at is None:
                    raise PeerGone("the address of the node is unknown")
                loop = asyncio.get_running_loop()
                answers = AnswerProtocol(self._take, lambda: self._lost(answers))
                self._answers = answers
                context = None if self._security is None else self._security.context
                transport, _ = await loop.create_connection(
                    lambda: answers, at.host, at.port, ssl=context
                )
                try:
                    await self._enter(transport)
                    if self._answers is not answers:  # closed, or broken already
                        raise PeerGone("the connection broke")
                except BaseException:
                    transport.abort()
                    raise
                self._transport = transport
            return self._transport

    async def _enter(self, transport: asyncio.Transport) -> None:
        """Authenticate this node. Raises PeerGone: the other one refuses it."""
        for message, version in [] if self._security is None else self._security.steps():
            answer = await self._written(transport, self._encoded(message, version))
            code = getattr(self._decoded(message, version, answer), "error_code", ErrorCode.NONE)
            if code != ErrorCode.NONE:
                raise PeerGone(f"the node refuses this one: {ErrorCode.describe(code)}")

    def _take(self, payload: bytes) -> None:
        """Pass a response to the oldest waiting request; close the connection if none waits."""
        if not self._waiting:
            self.close()
            return
        answered = self._waiting.popleft()
        if not answered.done():
            answered.set_result(payload)

    def _lost(self, answers: AnswerProtocol) -> None:
        if self._answers is answers:
            self.close()

    def close(self) -> None:
        """Drop the connection: waiting requests fail with PeerGone, the next one reconnects."""
        transport, self._transport = self._transport, None
        self._answers = None
        if transport is not None:
            transport.abort()
        waiting, self._waiting = self._waiting, deque()
        for answered in waiting:
            if not answered.done():
                answered.set_exception(PeerGone("the connection broke"))
                answered.exception()  # a caller that gave up waiting does not fetch it
