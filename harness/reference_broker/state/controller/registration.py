"""Registrations and heartbeats of brokers. Source: classes ClusterControlManager and
ReplicationControlManager (processBrokerHeartbeat); KIP-631, KIP-858 (directories).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from harness.base.ids import BrokerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import RegisterBrokerRecord
from harness.reference_broker.state.controller import fencing
from harness.reference_broker.state.controller.broker_states import (
    BrokerControlState,
    BrokerEvent,
    next_state,
)
from harness.reference_broker.state.controller.refused import ControllerRefused
from harness.reference_broker.state.controller.sessions import BrokerSessions, Wish
from harness.reference_broker.state.registrations.directory_ids import is_reserved

if TYPE_CHECKING:
    from harness.codec.messages import BrokerHeartbeatRequest, BrokerRegistrationRequest
    from harness.codec.structs import Message
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.log.log_store import Snapshots
    from harness.reference_broker.state.metadata.metadata_log import MetadataLog
    from harness.reference_broker.state.registrations.brokers import BrokerRegistration

METADATA_VERSION = "metadata.version"
_QUORUM, _ELIGIBLE_REPLICAS = (3, 0), (4, 0)
"""Between these releases a new incarnation changes no partition by itself, whether the last one
ended in good order or not (``MetadataVersion.isElrSupported``). With a ZooKeeper the session of
the last one is over before, so that its partitions had no leader in between."""


@dataclass(slots=True)
class ControllerRole:
    """State that only an active controller has; none of it is in the metadata log.

    `registered_at` is the offset of each broker's last registration, `snapshots` are those of the
    log, if it has any.
    """

    cluster_id: str
    sessions: BrokerSessions
    log: MetadataLog
    registered_at: dict[BrokerId, int] = field(default_factory=dict)
    snapshots: Snapshots | None = None


class HeartbeatReply(NamedTuple):
    """The answer to a broker's heartbeat."""

    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool


def registration_records(
    state: BrokerState,
    role: ControllerRole,
    request: BrokerRegistrationRequest,
    offset: int,
    now: TimeMs,
) -> list[Message]:
    """Return the records for a broker that registers; the next record is written at `offset`.

    Raises ControllerRefused. The broker epoch is the offset of the last record.
    """
    if request.cluster_id != role.cluster_id:
        raise ControllerRefused(ErrorCode.INCONSISTENT_CLUSTER_ID)
    broker_id = BrokerId(request.broker_id)
    existing = state.brokers.get(broker_id)
    is_same = existing is not None and existing.incarnation_id == request.incarnation_id
    may_return = existing is None or is_same
    if not may_return and role.sessions.is_valid(broker_id, now):
        raise ControllerRefused(ErrorCode.DUPLICATE_BROKER_REGISTRATION)
    if request.is_migrating_zk_broker:
        raise ControllerRefused(ErrorCode.BROKER_ID_NOT_REGISTERED)
    _check_directories(state, request)
    _check_features(state.features, request)
    records: list[Message] = []
    if not is_same and existing is not None:
        records += _on_return(state, existing, request.previous_broker_epoch)
    epoch = existing.epoch if existing is not None and is_same else offset + len(records)
    register = _record(request, epoch)
    if existing is not None and is_same:
        register.fenced = existing.is_fenced
        register.in_controlled_shutdown = existing.is_shutting_down
    return [*records, register]


def _on_return(
    state: BrokerState, existing: BrokerRegistration, previous_epoch: int
) -> list[Message]:
    """Return the records for a new incarnation of a broker.

    Source: ReplicationControlManager.handleBrokerShutdown, handleBrokerUncleanShutdown.
    """
    if state.like.since(*_QUORUM) and not state.like.since(*_ELIGIBLE_REPLICAS):
        return []
    came_back = fencing.came_back_unclean
    if previous_epoch == existing.epoch:
        came_back = fencing.came_back_clean  # it says so (KIP-966)
    return came_back(state, existing.broker_id)


def _record(request: BrokerRegistrationRequest, epoch: int) -> RegisterBrokerRecord:
    record = RegisterBrokerRecord
    return record(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        rack=request.rack,
        log_dirs=request.log_dirs,
        end_points=[
            record.BrokerEndpoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            record.BrokerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
    )


def _check_directories(state: BrokerState, request: BrokerRegistrationRequest) -> None:
    directories = request.log_dirs
    taken = {
        directory
        for other in state.brokers.all()
        if other.broker_id != request.broker_id
        for directory in other.directories
    }
    if (
        not directories
        or any(map(is_reserved, directories))
        or len(set(directories)) != len(directories)
        or taken.intersection(directories)
    ):
        raise ControllerRefused(ErrorCode.INVALID_REGISTRATION)


def _check_features(levels: Mapping[str, int], request: BrokerRegistrationRequest) -> None:
    """Raise ControllerRefused if a broker does not support a feature level of the cluster.

    Up to 3.9 a broker without metadata.version counted as one of the oldest version.
    """
    ranges = {
        one.name: (one.min_supported_version, one.max_supported_version) for one in request.features
    }
    for name in [*ranges, METADATA_VERSION, *levels]:
        lowest, highest = ranges.get(name, (0, 0))
        if name == METADATA_VERSION and name not in ranges:
            raise ControllerRefused(ErrorCode.INVALID_REGISTRATION)
        if not lowest <= levels.get(name, 0) <= highest:
            raise ControllerRefused(ErrorCode.UNSUPPORTED_VERSION)


def check_broker_epoch(state: BrokerState, broker_id: int, epoch: int) -> BrokerRegistration:
    """Return the registration of the broker id and epoch of a request. Raises ControllerRefused."""
    registered = state.brokers.get(broker_id)
    if registered is None or registered.epoch != epoch:
        raise ControllerRefused(ErrorCode.STALE_BROKER_EPOCH)
    return registered


def heartbeat(
    state: BrokerState, role: ControllerRole, request: BrokerHeartbeatRequest, now: TimeMs
) -> tuple[list[Message], HeartbeatReply]:
    """Return the records that a heartbeat causes, and the answer to it. Raises ControllerRefused.

    A broker that begins its shutdown waits until the others have read these records: the caller
    gives their offset to `BrokerSessions.await_shutdown`.
    """
    broker = check_broker_epoch(state, request.broker_id, request.broker_epoch)
    own = broker.broker_id
    wish = Wish(request.current_metadata_offset, request.want_fence, request.want_shut_down)
    registered_at = role.registered_at.get(own, 0)
    leads = fencing.leads_anything(state, own)
    event = role.sessions.event_of(own, wish, registered_at, leads=leads)
    following = next_state(role.sessions.state_of(own), event)
    is_fenced = following is BrokerControlState.FENCED
    records: list[Message] = []
    if is_fenced and not broker.is_fenced:
        records = fencing.fenced(state, broker)
    elif event is BrokerEvent.CAUGHT_UP:
        records = fencing.unfenced(state, broker)
    elif event is BrokerEvent.SHUTDOWN_BEGINS:
        records = fencing.shutting_down(state, broker)
    role.sessions.touch(own, now, request.current_metadata_offset)
    if event is not BrokerEvent.SHUTDOWN_BEGINS:
        role.sessions.apply(own, event)
    is_caught_up = wish.metadata_offset >= registered_at
    return records, HeartbeatReply(is_caught_up, is_fenced, event is BrokerEvent.MAY_STOP)
