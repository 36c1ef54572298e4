"""Forwarding of clients' requests that only the controller may decide (KIP-590)."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Coroutine
from typing import Any, TypeVar

from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DefaultPrincipalData,
    EnvelopeRequest,
)
from harness.codec.structs import Message, Request
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.state.quotas.client_quotas import ANYBODY

_LOCAL_HOST = bytes([127, 0, 0, 1])
_RETRY_S = 0.05
_CREATION = 7
"""The version of CreateTopics."""
M = TypeVar("M", bound=Message)
T = TypeVar("T")


class Forwarding:
    """Forwards requests, for ``timeout_s`` each while the controller cannot be reached."""

    def __init__(self, controller: Peer, timeout_s: float) -> None:
        self._controller, self._timeout_s = controller, timeout_s
        self._tasks: set[asyncio.Task[Any]] = set()

    def forward(
        self, payload: bytes, client_host: str, user: str = ANYBODY
    ) -> asyncio.Future[bytes]:
        """Return the response to a request, both with their headers. Fails with PeerGone."""
        return self._begun(self._forwarded(payload, client_host, user))

    def create(self, request: CreateTopicsRequest) -> asyncio.Future[CreateTopicsResponse]:
        """Create topics as the broker, which needs no right of a client. Fails with PeerGone."""
        return self._begun(self._answer_to(request, _CREATION))

    def _begun(self, answer: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(answer)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _forwarded(self, payload: bytes, client_host: str, user: str) -> bytes:
        envelope = EnvelopeRequest(
            request_data=payload,
            request_principal=_principal(user),
            client_host_address=_address_bytes(client_host),
        )
        answer = await self._answer_to(envelope, 0)
        if answer.error_code != ErrorCode.NONE or answer.response_data is None:
            raise PeerGone(ErrorCode(answer.error_code).name)
        return answer.response_data

    async def _answer_to(self, request: Request[M], version: int) -> M:
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        while True:
            try:
                return await self._controller.ask(request, version)
            except PeerGone:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(_RETRY_S)

    async def close(self) -> None:
        """Cancel the requests in progress."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _principal(user: str) -> bytes:
    return version_prefixed_bytes(DefaultPrincipalData(type="User", name=user), 0)


def _address_bytes(host: str) -> bytes:
    try:
        return ipaddress.ip_address(host).packed
    except ValueError:
        return _LOCAL_HOST
