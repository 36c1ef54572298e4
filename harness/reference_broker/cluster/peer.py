"""A connection to another node, for one purpose: responses come in the order of the requests.

It is opened for the first request, and again after it broke; waiting requests fail then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeVar, cast

from harness.codec.apis import api_of
from harness.codec.errors import DecodeError
from harness.codec.frame import frame
from harness.codec.header import decode_response, encode_request
from harness.codec.structs import Message, Request
from harness.reference_broker.cluster.answers import AnswerProtocol
from harness.reference_broker.state.registrations.brokers import Endpoint

M = TypeVar("M", bound=Message)


class PeerGone(Exception):
    """There is no answer: the node cannot be reached, has gone, or sends nonsense."""


class Peer:
    """``where`` returns the node's address at each connect, or None while it is unknown."""

    def __init__(
        self, where: Callable[[], Endpoint | None], client_id: str, timeout_ms: int
    ) -> None:
        self._where, self._client_id = where, client_id
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
        self._correlation_id += 1
        payload = encode_request(message, version, self._correlation_id, self._client_id)
        answer = await self._exchange(payload, more_ms)
        try:
            _, response = decode_response(api_of(type(message)), version, answer)
        except DecodeError as error:
            self.close()
            raise PeerGone(f"an answer that cannot be read: {error}") from error
        return cast("M", response)

    async def _exchange(self, payload: bytes, more_ms: int) -> bytes:
        try:
            async with asyncio.timeout(self._timeout_s + more_ms / 1000):
                transport = await self._connected()
                answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
                self._waiting.append(answered)
                transport.write(frame(payload))
                return await answered
        except TimeoutError as error:
            self.close()
            raise PeerGone("no answer in time") from error
        except OSError as error:
            self.close()
            raise PeerGone(str(error)) from error

    async def _connected(self) -> asyncio.Transport:
        async with self._connecting:
            if self._transport is None:
                at = self._where()
                if at is None:
                    raise PeerGone("the address of the node is unknown")
                loop = asyncio.get_running_loop()
                answers = AnswerProtocol(self._take, lambda: self._lost(answers))
                self._answers = answers
                transport, _ = await loop.create_connection(lambda: answers, at.host, at.port)
                if self._answers is not answers:  # closed, or broken already
                    transport.abort()
                    raise PeerGone("the connection broke")
                self._transport = transport
            return self._transport

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
