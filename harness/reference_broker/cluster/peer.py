"""A connection to another node, for one purpose: what is asked in order is answered in order.

It is made when it is first needed, and anew after it broke; whoever waited is told.
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
from harness.reference_broker.state.brokers import Endpoint

M = TypeVar("M", bound=Message)


class PeerGone(Exception):
    """There is no answer: the node is not there, has gone, or answers nonsense."""


class Peer:
    """``where`` tells the node's address each time it is connected to; None while nobody knows."""

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
        """Ask, and await the answer; ``more_ms`` is how long the node may wait with it.

        Raises PeerGone.
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
                    raise PeerGone("nobody knows where the node is")
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
        """The answer to what was asked first; nobody asked for any other."""
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
        """Drop the connection; whoever waits gets PeerGone, the next request a new connection."""
        transport, self._transport = self._transport, None
        self._answers = None
        if transport is not None:
            transport.abort()
        waiting, self._waiting = self._waiting, deque()
        for answered in waiting:
            if not answered.done():
                answered.set_exception(PeerGone("the connection broke"))
                answered.exception()  # who gave up waiting does not look
