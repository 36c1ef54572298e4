"""A broker of a cluster: its listeners, and all its work beside serving clients."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from harness.base.ids import BrokerId, PartitionIndex
from harness.reference_broker.cluster.background import begun
from harness.reference_broker.cluster.broker_peers import BrokerPeers
from harness.reference_broker.cluster.config_screening import ConfigScreening
from harness.reference_broker.cluster.directory_assignments import DirectoryAssignments
from harness.reference_broker.cluster.directory_failures import DirectoryFailures
from harness.reference_broker.cluster.forwarding import Forwarding
from harness.reference_broker.cluster.isr_proposals import IsrProposals
from harness.reference_broker.cluster.lifecycle import Lifecycle
from harness.reference_broker.cluster.log_moves import log_moves
from harness.reference_broker.cluster.log_upkeep import log_upkeep, note_offsets
from harness.reference_broker.cluster.marker_sender import MarkerSender
from harness.reference_broker.cluster.membership import (
    CONTROLLER_LISTENER,
    INTERNAL_LISTENER,
    NodeMembership,
)
from harness.reference_broker.cluster.metadata_reader import MetadataReader
from harness.reference_broker.cluster.peer import Peer
from harness.reference_broker.cluster.producer_id_blocks import ProducerIdBlocks
from harness.reference_broker.cluster.replica_fetcher import FetchSettings
from harness.reference_broker.cluster.replica_fetchers import ReplicaFetchers
from harness.reference_broker.cluster.topic_creation import TopicCreation
from harness.reference_broker.cluster.transaction_checks import TransactionChecks
from harness.reference_broker.effects import (
    CheckWanted,
    CreationWanted,
    DirectoryChosen,
    Effect,
    IsrProposed,
    MarkersAwaited,
    ReplicaMoved,
    TopicDeleted,
)
from harness.reference_broker.handlers.table import MEMBER_HANDLERS, handlers_of
from harness.reference_broker.initial_state import member_state
from harness.reference_broker.listener_protocols import protocol_of
from harness.reference_broker.node import Node, NodeRole
from harness.reference_broker.server import BrokerServer, advertised_address
from harness.reference_broker.settings import BrokerSettings, folders_of
from harness.reference_broker.state.registrations.brokers import CLIENT_LISTENER, Endpoint
from harness.reference_broker.storage.log_directories import LogDirectories
from harness.reference_broker.storage.node_files import NodeFiles
from harness.security.settings import SecurityProtocol

if TYPE_CHECKING:
    from harness.reference_broker.cluster.link_security import LinkSecurity

_LOG = logging.getLogger(__name__)
_SHUT_DOWN_S = 30.0


@dataclass(frozen=True, slots=True)
class Joining:
    """The parameters with which a broker joins its cluster.

    ``port`` and ``internal_port`` are 0 for free ones; the latter is None for one listener only.
    ``folder`` has the broker's logs, None keeps them in memory. ``ways``: as in
    :class:`NodeMembership`.
    """

    cluster_id: str
    controller: Endpoint
    host: str = "127.0.0.1"
    port: int = 0
    internal_port: int | None = 0
    folder: Path | None = None
    ways: Mapping[Endpoint, Endpoint] = field(default_factory=dict)


class BrokerNode:
    """``start`` returns when clients may connect, ``stop`` when all is handed over and closed."""

    def __init__(
        self, settings: BrokerSettings, joining: Joining, files: NodeFiles | None = None
    ) -> None:
        """`files` belong to the caller, which closes them with the epoch in `ended_as`.

        Raises OSError: the folder cannot be used.
        """
        self._settings, self._joining = settings, joining
        self._client = BrokerServer(settings)
        self._internal = BrokerServer(settings, INTERNAL_LISTENER)
        self._link_security = _link_security(settings)
        self._tasks: list[asyncio.Task[None]] = []
        self._peers: list[Peer] = []
        self._running: _Running | None = None
        self.files, self._owns_files = files, files is None
        if files is None and joining.folder is not None:
            number, folders = settings.number("node.id"), folders_of(settings, joining.folder)
            self.files = NodeFiles(folders, joining.cluster_id, number)
        self.ended_as: int | None = None
        """The broker epoch of a controlled shutdown; None without one."""
        self.node: Node | None = None

    async def start(self) -> Endpoint:
        """Join the cluster; return the address for clients."""
        joining, settings = self._joining, self._settings
        client = Endpoint(joining.host, await self._client.bind(joining.host, joining.port))
        told = client
        if settings.text("advertised.listeners"):
            told = Endpoint(*advertised_address(settings, *client))
        listeners = {CLIENT_LISTENER: told}
        if joining.internal_port is not None:
            port = await self._internal.bind(joining.host, joining.internal_port)
            listeners[INTERNAL_LISTENER] = Endpoint(joining.host, port)
        member = NodeMembership(
            BrokerId(settings.number("node.id")),
            joining.cluster_id,
            joining.controller,
            listeners,
            [uuid4()] if self.files is None else self.files.directory_ids,
            settings.text("broker.rack") or None,
            ways=joining.ways,
            security=self._link_security,
            protocols={name: protocol_of(settings, name) for name in listeners},
        )
        running = self._running = _Running(settings, member, self._peer)
        if self.files is not None:
            member.previous_epoch = self.files.previous_epoch
            running.use(self.files.logs)
        self.node = running.node
        for work in running.works():
            self._tasks.append(begun(work))
        await self._until(running.lifecycle.is_registered)
        await self._until(running.lifecycle.caught_up)
        if self.files is not None:
            self.files.logs.started()
        await self._client.serve(running.node)
        if joining.internal_port is not None:
            await self._internal.serve(running.node)
        if self.files is not None:
            running.node.upkeep += log_upkeep(running.node.state, self.files.logs, settings)
            running.node.upkeep.append(log_moves(running.node))
        for upkeep in running.node.upkeep:
            upkeep.start()
        await self._until(running.lifecycle.is_unfenced)
        return client

    async def _until(self, event: asyncio.Event) -> None:
        """Wait for an event.

        Raises the error of a background task that has ended: the event would never come then.
        """
        waiting = asyncio.get_running_loop().create_task(event.wait())
        await asyncio.wait({waiting, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    def _peer(self, purpose: str) -> Peer:
        node_id = self._settings.number("node.id")
        timeout_ms = self._settings.number("controller.socket.timeout.ms")
        controller = self._joining.controller
        way = self._joining.ways.get(controller, controller)
        security = self._link_security[CONTROLLER_LISTENER]
        peer = Peer(lambda: way, f"broker-{node_id}-{purpose}", timeout_ms, security)
        self._peers.append(peer)
        return peer

    async def stop(self) -> None:
        """Do a controlled shutdown, then close."""
        is_lost = self.files is not None and self.files.logs.lost is not None
        running = self._running
        if running is not None and running.lifecycle.is_unfenced.is_set() and not is_lost:
            await running.lifecycle.shut_down(_SHUT_DOWN_S)
            self.ended_as = running.member.epoch
        await self.close()

    async def close(self) -> None:
        """Close without informing the controller."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._running is not None:
            await self._running.close()
        for peer in self._peers:
            peer.close()
        await self._client.close()
        if self._joining.internal_port is not None:
            await self._internal.close()
        if self.node is not None:
            note_offsets(self.node.state)
        if self.files is not None and self._owns_files:
            self.files.close(broker_epoch=self.ended_as)


def _link_security(settings: BrokerSettings) -> dict[str, LinkSecurity | None]:
    """Return the ways into other nodes, by the names of their listeners. Raises SettingError."""
    names = (INTERNAL_LISTENER, CONTROLLER_LISTENER)
    if all(protocol_of(settings, name) is SecurityProtocol.PLAINTEXT for name in names):
        return dict.fromkeys(names)
    # Not at the start: most clusters have no such listener.
    from harness.reference_broker.cluster.link_security import link_security

    return {name: link_security(settings, name) for name in names}


class _Running:
    """The parts of a broker that has begun, put together."""

    def __init__(self, settings: BrokerSettings, member: NodeMembership, peer: Any) -> None:
        number = settings.number
        self.forwarding = Forwarding(peer("forwarding"), number("request.timeout.ms") / 1000)
        self._creation = TopicCreation(self.forwarding)
        state = member_state(settings, member.listeners[CLIENT_LISTENER], member.cluster_id)
        screening = ConfigScreening(state, self.forwarding.forward)
        handlers = handlers_of(settings, MEMBER_HANDLERS)
        node_role = NodeRole(state, handlers, forward=screening.forward, notice=self._notice)
        at = member.listeners[CLIENT_LISTENER]
        self.node = Node(settings, at.host, at.port, random.Random(), node_role)
        self.lifecycle = Lifecycle(
            member, peer("lifecycle"), number("broker.heartbeat.interval.ms")
        )
        self._metadata = MetadataReader(self.node, member, peer("metadata"), self._caught_up)
        self._proposals = IsrProposals(self.node, member, peer("isr"))
        self._directories = DirectoryAssignments(self.node, member, peer("directories"))
        self._producer_ids = ProducerIdBlocks(state.producer_ids, member, peer("producer-ids"))
        self.fetchers = ReplicaFetchers(
            self.node,
            member,
            FetchSettings(
                number("replica.fetch.wait.max.ms"),
                number("replica.fetch.min.bytes"),
                number("replica.fetch.max.bytes"),
                number("replica.fetch.response.max.bytes"),
                number("replica.fetch.backoff.ms"),
            ),
            number("replica.socket.timeout.ms"),
        )
        request_ms = number("request.timeout.ms")
        # A marker may wait for replicas, and a check must not wait for it.
        self._of_checks = BrokerPeers(self.node, member, "transaction-checks", request_ms)
        self._of_markers = BrokerPeers(self.node, member, "markers", request_ms)
        self._checks = TransactionChecks(self.node, self._of_checks)
        self._markers = MarkerSender(self.node, self._of_markers)
        self.member = member
        self._failure_timeout_ms = number("log.dir.failure.timeout.ms")

    def works(self) -> list[Coroutine[Any, Any, None]]:
        """Return the background tasks, which run for as long as the broker does."""
        return [
            self.lifecycle.run(),
            self._after_registration(self._metadata.run()),
            self._after_registration(self._proposals.run()),
            self._after_registration(self._directories.run()),
            self._after_registration(self._producer_ids.run()),
            self._after_registration(self._markers.run()),
        ]

    async def close(self) -> None:
        """Close the connections to other nodes."""
        await self.fetchers.close()
        await self.forwarding.close()
        await self._checks.close()
        self._of_checks.close()
        self._of_markers.close()

    def use(self, logs: LogDirectories) -> None:
        """Keep the logs there; inform the controller of directories that fail."""
        host = self.node.state.cluster.host
        host.storage, host.tells_directories = logs, True
        failures = DirectoryFailures(logs, self._failure_timeout_ms)
        self.member.failed, self.member.told = logs.failed_ids, failures.told

        def on_failed() -> None:
            failures.noticed()
            self.lifecycle.hurry()

        logs.on_failed = on_failed

    async def _after_registration(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await self.lifecycle.is_registered.wait()
        except asyncio.CancelledError:
            work.close()
            raise
        await work

    def _caught_up(self) -> None:
        known = self.node.state.brokers.get(self.member.broker_id)
        if known is not None and known.epoch == self.member.epoch:
            self.lifecycle.caught_up.set()

    def _notice(self, effect: Effect) -> None:
        if isinstance(effect, IsrProposed):
            self._proposals.propose(effect.topic_id, effect.partition_index)
        elif isinstance(effect, ReplicaMoved):
            self.fetchers.moved(effect.topic_id, effect.partition_index)
            self._directories.look_at(effect.topic_id, effect.partition_index)
        elif isinstance(effect, DirectoryChosen):
            self._directories.tell(effect.topic_id, effect.partition_index, effect.directory)
        elif isinstance(effect, CreationWanted):
            self._creation.ask_for(effect)
        elif isinstance(effect, CheckWanted):
            self._checks.ask(effect.check)
        elif isinstance(effect, MarkersAwaited):
            self._markers.hurry()
        elif isinstance(effect, TopicDeleted):
            for index in range(effect.partition_count):
                self.fetchers.moved(effect.topic_id, PartitionIndex(index))
