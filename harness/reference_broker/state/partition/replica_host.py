"""The broker of the replicas, as its replicas see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from harness.base.ids import BrokerId, PartitionIndex
from harness.reference_broker.state.log.log_store import Place, Storage
from harness.reference_broker.state.partition.leading import ReplicationRules
from harness.reference_broker.state.registrations.brokers import Brokers

NO_BROKER = BrokerId(-2)
"""Differs from -1, the leader id of a partition without a leader."""


class Arrival(Enum):
    """The report of a replica's new directory to the controller (class ReassignmentState)."""

    UNREPORTED = "not reported yet"
    REPORTED = "reported, or to be reported"
    KNOWN = "the controller's metadata have it, or no report is necessary"


@dataclass(slots=True)
class ReplicaHost:
    """`own` is NO_BROKER where only metadata is kept; `broker_epoch` is -1 before a registration.

    `has_begun` is False until a broker has read all existing metadata: before, its reads are
    history, and it leads and follows nothing (class MetadataLoader). `storage` keeps the logs, None
    where they are in memory alone; then `in_folder` has the replicas that a client wanted in
    another folder than the first, by topic and partition. `moving` are the replicas on their way to
    another folder, with the state of the report of that folder. If the broker `tells_directories`,
    they arrive when the controller knows of the move (KIP-858).
    """

    own: BrokerId
    brokers: Brokers = field(default_factory=Brokers)
    rules: ReplicationRules = field(default_factory=ReplicationRules)
    broker_epoch: int = -1
    has_begun: bool = True
    storage: Storage | None = None
    in_folder: dict[Place, str] = field(default_factory=dict)
    tells_directories: bool = False
    moving: dict[tuple[UUID, PartitionIndex], Arrival] = field(default_factory=dict)
