"""A broker's registration, heartbeats and controlled shutdown.

Source: class BrokerLifecycleManager; KIP-631.
"""

from __future__ import annotations

import asyncio
import logging

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
)
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.handlers.api_18_api_versions import supported_ranges
from harness.security.settings import SecurityProtocol

_LOG = logging.getLogger(__name__)
_REGISTRATION_VERSION, _HEARTBEAT_VERSION = 4, 2
_RETRY_S = 0.1
_PROTOCOL_NUMBERS = {protocol: number for number, protocol in enumerate(SecurityProtocol)}


class Lifecycle:
    """``is_unfenced`` is set when the controller has unfenced the broker for the first time."""

    def __init__(self, member: NodeMembership, controller: Peer, interval_ms: int) -> None:
        self._member, self._controller = member, controller
        self._interval_s = interval_ms / 1000
        self.is_registered, self.is_unfenced = asyncio.Event(), asyncio.Event()
        self._has_news = asyncio.Event()
        self.caught_up = asyncio.Event()
        """Set by the metadata reader when it has read the broker's registration."""
        self._wants_shut_down, self._is_over = False, asyncio.Event()

    async def run(self) -> None:
        """Send heartbeats until the end of a controlled shutdown, or until cancelled.

        Register again if the controller forgets the broker.
        """
        while not self._is_over.is_set():
            await self._register()
            try:
                await self._beat()
            except _Unknown:
                _LOG.warning("broker %s is not known any more", self._member.broker_id)

    async def _register(self) -> None:
        while True:
            try:
                answer = await self._controller.ask(self._registration(), _REGISTRATION_VERSION)
            except PeerGone as gone:
                _LOG.info("no registration yet: %s", gone)
            else:
                if answer.error_code == ErrorCode.NONE:
                    self._member.epoch = answer.broker_epoch
                    self.is_registered.set()
                    return
                _LOG.warning("registration refused: %s", ErrorCode(answer.error_code).name)
            await asyncio.sleep(_RETRY_S)

    def _registration(self) -> BrokerRegistrationRequest:
        member, request = self._member, BrokerRegistrationRequest
        return request(
            broker_id=member.broker_id,
            cluster_id=member.cluster_id,
            incarnation_id=member.incarnation_id,
            listeners=[
                request.Listener(
                    name=name,
                    host=at.host,
                    port=at.port,
                    security_protocol=_PROTOCOL_NUMBERS[
                        member.protocols.get(name, SecurityProtocol.PLAINTEXT)
                    ],
                )
                for name, at in member.listeners.items()
            ],
            features=[
                request.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in supported_ranges("").items()
            ],
            rack=member.rack,
            log_dirs=list(member.directories),
            previous_broker_epoch=member.previous_epoch,
        )

    async def _beat(self) -> None:
        """Send one heartbeat at a time: after the one that ends a shutdown there is no other.

        A later one without the wish to stop would make the controller unfence the broker again.
        """
        while not self._is_over.is_set():
            try:
                answer = await self._heartbeat()
            except PeerGone as gone:
                _LOG.info("no heartbeat: %s", gone)
                if self._wants_shut_down:
                    self._is_over.set()
                await asyncio.sleep(min(_RETRY_S, self._interval_s))
                continue
            if answer.error_code == ErrorCode.STALE_BROKER_EPOCH:
                raise _Unknown
            if answer.should_shut_down:
                self._is_over.set()
                return
            if not answer.is_fenced:
                self.is_unfenced.set()
            await self._pause(is_caught_up=answer.is_caught_up)

    async def _pause(self, *, is_caught_up: bool) -> None:
        """Wait for the time of the next heartbeat.

        A heartbeat that can unfence the broker, or has news, is sent immediately.
        """
        events = [self._has_news]
        if not (is_caught_up or self.caught_up.is_set()):
            events.append(self.caught_up)
        most_s = min(_RETRY_S, self._interval_s) if self._wants_shut_down else self._interval_s
        waiting = [asyncio.ensure_future(event.wait()) for event in events]
        try:
            await asyncio.wait(waiting, timeout=most_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()

    def hurry(self) -> None:
        """Send the next heartbeat immediately: it reports a failed directory."""
        self._has_news.set()

    async def _heartbeat(self) -> BrokerHeartbeatResponse:
        member = self._member
        failed = list(member.failed())
        self._has_news.clear()
        request = BrokerHeartbeatRequest(
            broker_id=member.broker_id,
            broker_epoch=member.epoch,
            current_metadata_offset=member.metadata_offset,
            want_shut_down=self._wants_shut_down,
            offline_log_dirs=failed,
        )
        answer = await self._controller.ask(request, _HEARTBEAT_VERSION)
        if answer.error_code == ErrorCode.NONE:
            member.told(failed)
        return answer

    async def shut_down(self, timeout_s: float) -> None:
        """Request a shutdown in every heartbeat until the controller allows it.

        Give up if the controller cannot be reached, or when the time is over.
        """
        self._wants_shut_down = True
        self._has_news.set()
        try:
            async with asyncio.timeout(timeout_s):
                await self._is_over.wait()
        except TimeoutError:
            _LOG.warning("the controller did not allow the shutdown within %g s", timeout_s)


class _Unknown(Exception):
    """The controller does not know this incarnation."""
