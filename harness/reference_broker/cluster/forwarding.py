"""Forwarding of clients' requests that only the controller may decide (KIP-590)."""

from __future__ import annotations

import asyncio
import ipaddress

from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DefaultPrincipalData, EnvelopeRequest
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.state.quotas.client_quotas import ANYBODY

_LOCAL_HOST = bytes([127, 0, 0, 1])
_RETRY_S = 0.05


class Forwarding:
    """Forwards requests, for ``timeout_s`` each while the controller cannot be reached."""

    def __init__(self, controller: Peer, timeout_s: float) -> None:
        self._controller, self._timeout_s = controller, timeout_s
        self._tasks: set[asyncio.Task[bytes]] = set()

    def forward(
        self, payload: bytes, client_host: str, user: str = ANYBODY
    ) -> asyncio.Future[bytes]:
        """Return the response to a request, both with their headers. Fails with PeerGone."""
        task = asyncio.get_running_loop().create_task(self._ask(payload, client_host, user))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _ask(self, payload: bytes, client_host: str, user: str) -> bytes:
        envelope = EnvelopeRequest(
            request_data=payload,
            request_principal=_principal(user),
            client_host_address=_address_bytes(client_host),
        )
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        while True:
            try:
                answer = await self._controller.ask(envelope, 0)
                break
            except PeerGone:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(_RETRY_S)
        if answer.error_code != ErrorCode.NONE or answer.response_data is None:
            raise PeerGone(ErrorCode(answer.error_code).name)
        return answer.response_data

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
