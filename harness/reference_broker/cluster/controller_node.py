"""The controller on a node of its own: its listener, and its work without requests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from harness.base.ids import BrokerId, TimeMs
from harness.codec.messages import (
    FeatureLevelRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
)
from harness.codec.structs import Message
from harness.reference_broker.cluster.membership import CONTROLLER_LISTENER
from harness.reference_broker.cluster.metadata_keeping import KeepingLimits, MetadataKeeping
from harness.reference_broker.handlers.api_18_api_versions import (
    finalized_levels,
    supported_ranges,
)
from harness.reference_broker.handlers.table import CONTROLLER_HANDLERS, handlers_of
from harness.reference_broker.initial_state import cluster_configs, controller_state
from harness.reference_broker.node import Node, NodeRole
from harness.reference_broker.node_upkeep import token_expiry
from harness.reference_broker.server import BrokerServer
from harness.reference_broker.settings import BrokerSettings, folders_of
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.configs.kinds import ResourceType
from harness.reference_broker.state.controller.broker_states import BrokerEvent
from harness.reference_broker.state.controller.elections import preferred_leaders, unclean_leaders
from harness.reference_broker.state.controller.fencing import fenced
from harness.reference_broker.state.controller.registration import (
    METADATA_VERSION,
    ControllerRole,
)
from harness.reference_broker.state.controller.sessions import BrokerSessions
from harness.reference_broker.state.metadata.metadata_image import apply_records
from harness.reference_broker.state.metadata.metadata_log import MetadataLog
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.state.registrations.metadata_records import config_records
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC
from harness.reference_broker.storage.node_files import NodeFiles
from harness.reference_broker.upkeep import Upkeep
from harness.reference_broker.wall_clock import now_ms

_METADATA_FOLDER = f"{CLUSTER_METADATA_TOPIC}-0"
_LIMITS = ("metadata.log.max.record.bytes.between.snapshots", "metadata.max.retention.bytes")
_LOOKS_A_SESSION = 10
"""The number of checks for ended sessions within a session's timeout."""


class ControllerNode:
    """The only controller of a cluster. Its log is in memory, or in a folder that outlives it."""

    def __init__(
        self, settings: BrokerSettings, cluster_id: str, folder: Path | None = None
    ) -> None:
        """Raises OSError: the folder cannot be used."""
        self._settings, self._cluster_id = settings, cluster_id
        number = settings.number("node.id")
        self.files = None
        if folder is not None:
            self.files = NodeFiles(folders_of(settings, folder), cluster_id, number)
        self._server = BrokerServer(settings, CONTROLLER_LISTENER)
        self.node: Node | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Endpoint:
        """Listen, for brokers alone; port 0 takes a free one."""
        at = Endpoint(host, await self._server.bind(host, port))
        settings = self._settings
        state = controller_state(settings, at, self._cluster_id)
        if self.files is not None:
            state.cluster.host.storage = self.files.logs
        log = MetadataLog(state, now_ms(), settings.number("metadata.log.segment.bytes"))
        sessions = BrokerSessions(settings.number("broker.session.timeout.ms"))
        role = ControllerRole(self._cluster_id, sessions, log)
        folder = None if self.files is None else self.files.logs.metadata_folder / _METADATA_FOLDER
        limits = KeepingLimits(*map(settings.number, _LIMITS))
        keeping = MetadataKeeping(log, folder, limits)
        role.snapshots = keeping.snapshots
        self._replay(state, role, keeping)
        own = BrokerId(settings.number("node.id"))
        keeping.lead(own, now_ms())
        state.write_metadata = keeping.append
        if METADATA_VERSION not in state.features:
            state.change_metadata(keeping.begin() or self._format(), now_ms())
        state.change_metadata([_registration(at, own)], now_ms())
        node_role = NodeRole(state, handlers_of(settings, CONTROLLER_HANDLERS), role=role)
        self.node = Node(settings, at.host, at.port, random.Random(), node_role)
        self.node.upkeep = list(self._upkeep(self.node, role))
        await self._server.serve(self.node)
        for upkeep in self.node.upkeep:
            upkeep.start()
        return at

    def _format(self) -> list[Message]:
        """Return the records with which a new cluster begins."""
        levels = finalized_levels(self._settings.like)
        begin: list[Message] = [
            FeatureLevelRecord(name=name, feature_level=level) for name, level in levels.items()
        ]
        begin += config_records(ResourceType.BROKER, "", {}, cluster_configs(self._settings))
        if self._settings.scram_users:
            from harness.reference_broker.authentication.scram_users import scram_records

            begin += scram_records(self._settings.scram_users)
        return begin

    @staticmethod
    def _replay(state: BrokerState, role: ControllerRole, kept: MetadataKeeping) -> None:
        """Apply all records of the log; the sessions of brokers begin anew.

        Raises UnreadableLog, OSError.
        """
        for end, records in kept.records(now_ms()):
            apply_records(state, records, now_ms())
            for record in records:
                if isinstance(record, RegisterBrokerRecord):
                    role.registered_at[BrokerId(record.broker_id)] = end - 1
        for broker in state.brokers.all():
            role.sessions.load(broker.broker_id, now_ms(), is_fenced=broker.is_fenced)
        state.take_effects()

    def _upkeep(self, node: Node, role: ControllerRole) -> Iterator[Upkeep]:
        settings, state = self._settings, node.state

        def fence(now: TimeMs) -> Iterator[None]:
            while (stale := role.sessions.stale(now)) is not None:
                registered = state.brokers.get(stale)
                if registered is not None and not registered.is_fenced:
                    state.change_metadata(fenced(state, registered), now)
                role.sessions.apply(stale, BrokerEvent.SESSION_ENDED)
                node.carry_out([])
                yield

        def rebalance(now: TimeMs) -> Iterator[None]:
            state.change_metadata(preferred_leaders(state), now)
            node.carry_out([])
            yield

        def elect_unclean(now: TimeMs) -> Iterator[None]:
            state.change_metadata(unclean_leaders(state), now)
            node.carry_out([])
            yield

        look_ms = max(settings.number("broker.session.timeout.ms") // _LOOKS_A_SESSION, 1)
        yield token_expiry(state, settings, node.carry_out)
        yield Upkeep(fence, now_ms, look_ms, lambda: look_ms)
        unclean_ms = settings.number("unclean.leader.election.interval.ms")
        yield Upkeep(elect_unclean, now_ms, unclean_ms, lambda: unclean_ms)
        if settings.flag("auto.leader.rebalance.enable"):
            balance_ms = 1000 * settings.number("leader.imbalance.check.interval.seconds")
            yield Upkeep(rebalance, now_ms, balance_ms, lambda: balance_ms)

    async def stop(self, broker_epoch: int | None = None) -> None:
        """Close the listener, all connections, and the files.

        ``broker_epoch`` is that of a broker that shares the files, after its controlled shutdown.
        """
        await self._server.close()
        if self.files is not None:
            self.files.close(broker_epoch=broker_epoch)


def _registration(at: Endpoint, node_id: int) -> RegisterControllerRecord:
    """Return the record with the controller's listener and features (KIP-919)."""
    record = RegisterControllerRecord
    endpoint = record.ControllerEndpoint(name=CONTROLLER_LISTENER, host=at.host, port=at.port)
    features = [
        record.ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in supported_ranges("").items()
    ]
    return record(
        controller_id=node_id, incarnation_id=uuid4(), end_points=[endpoint], features=features
    )
