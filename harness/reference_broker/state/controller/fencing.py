"""Changes of partitions when a broker is fenced, unfenced, shuts down, is unregistered, comes back
or loses a directory.

Source: class ReplicationControlManager (handleBrokerFenced and its neighbours,
generateLeaderAndIsrUpdates).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from harness.base.ids import BrokerId
from harness.codec.messages import BrokerRegistrationChangeRecord, UnregisterBrokerRecord
from harness.reference_broker.state.controller.circumstances import changed, partitions_where
from harness.reference_broker.state.controller.partition_change import TargetReplicas, without
from harness.reference_broker.state.registrations.brokers import (
    FENCE,
    IN_CONTROLLED_SHUTDOWN,
    UNFENCE,
)
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER,
    PartitionRegistration,
)

if TYPE_CHECKING:
    from harness.codec.structs import Message
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.registrations.brokers import BrokerRegistration
    from harness.reference_broker.state.topics.topic import TopicState


def fenced(state: BrokerState, broker: BrokerRegistration) -> list[Message]:
    """Return the records that fence a broker: it leaves every ISR and leads no partition."""
    return [
        *_removed(state, broker.broker_id),
        BrokerRegistrationChangeRecord(
            broker_id=broker.broker_id, broker_epoch=broker.epoch, fenced=FENCE
        ),
    ]


def unfenced(state: BrokerState, broker: BrokerRegistration) -> list[Message]:
    """Return the records that unfence a broker; it may lead partitions that have no leader."""
    own = broker.broker_id

    def is_acceptable(other: BrokerId) -> bool:
        return other == own or state.brokers.is_active(other)

    def has_no_leader(registered: PartitionRegistration) -> bool:
        return registered.leader == NO_LEADER

    change = BrokerRegistrationChangeRecord(
        broker_id=own, broker_epoch=broker.epoch, fenced=UNFENCE
    )
    return [change, *_changes(state, has_no_leader, lambda _: TargetReplicas(), is_acceptable)]


def shutting_down(state: BrokerState, broker: BrokerRegistration) -> list[Message]:
    """Return the records that begin a controlled shutdown: the broker leaves every ISR, and other
    brokers lead its partitions.
    """
    own = broker.broker_id
    first: list[Message] = []
    if not broker.is_shutting_down:
        first = [
            BrokerRegistrationChangeRecord(
                broker_id=own,
                broker_epoch=broker.epoch,
                in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN,
            )
        ]
    return [*first, *_removed(state, own)]


def unregistered(state: BrokerState, broker: BrokerRegistration) -> list[Message]:
    """Return the records that remove a broker's registration."""
    removal = UnregisterBrokerRecord(broker_id=broker.broker_id, broker_epoch=broker.epoch)
    return [*_removed(state, broker.broker_id), removal]


def came_back_unclean(state: BrokerState, broker_id: BrokerId) -> list[Message]:
    """Return the records for a new incarnation that cannot prove a complete log: it is neither in
    sync nor eligible.
    """

    def concerns(registered: PartitionRegistration) -> bool:
        return broker_id in registered.isr or broker_id in registered.elr

    def target(registered: PartitionRegistration) -> TargetReplicas:
        isr = without(registered.isr, broker_id)
        return TargetReplicas(isr=isr, shut_down_unclean=frozenset({broker_id}))

    def is_acceptable(other: BrokerId) -> bool:
        return other != broker_id and state.brokers.is_active(other)

    return _changes(state, concerns, target, is_acceptable)


def came_back_clean(state: BrokerState, broker_id: BrokerId) -> list[Message]:
    """Return the records for a new incarnation with a complete log: it must catch up before it is
    in sync again, but may be eligible.
    """
    return _removed(state, broker_id)


def directories_offline(
    state: BrokerState, broker: BrokerRegistration, offline: Iterable[UUID]
) -> list[Message]:
    """Return the records for failed directories: the broker leaves the ISRs of the replicas in
    them, and keeps its other replicas.
    """
    failed = set(offline).intersection(broker.directories)
    if not failed:
        return []
    left = [directory for directory in broker.directories if directory not in failed]
    own = broker.broker_id
    change = BrokerRegistrationChangeRecord(broker_id=own, broker_epoch=broker.epoch, log_dirs=left)
    return [*_removed(state, own, lambda one: one.directory_of(own) in failed), change]


def directory_lost(
    state: BrokerState, topic: TopicState, partition: Partition, broker_id: BrokerId
) -> Message | None:
    """Return the record that takes a replica out of the ISR because its directory is offline; its
    broker has reported the directory after the failure. None if nothing changes.
    """
    target = TargetReplicas(isr=without(partition.registration.isr, broker_id))

    def is_acceptable(other: BrokerId) -> bool:
        return other != broker_id and state.brokers.is_active(other)

    return changed(state, topic, partition, target, None, is_acceptable)


def leads_anything(state: BrokerState, broker_id: BrokerId) -> bool:
    """True if the broker leads a partition."""
    return any(True for _ in partitions_where(state, lambda one: one.leader == broker_id))


def _removed(
    state: BrokerState,
    broker_id: BrokerId,
    concerns: Callable[[PartitionRegistration], bool] = lambda _: True,
) -> list[Message]:
    def is_acceptable(other: BrokerId) -> bool:
        return other != broker_id and state.brokers.is_active(other)

    return _changes(
        state,
        lambda registered: broker_id in registered.isr and concerns(registered),
        lambda registered: TargetReplicas(isr=without(registered.isr, broker_id)),
        is_acceptable,
    )


def _changes(
    state: BrokerState,
    concerns: Callable[[PartitionRegistration], bool],
    target: Callable[[PartitionRegistration], TargetReplicas],
    is_acceptable: Callable[[BrokerId], bool],
) -> list[Message]:
    found = (
        changed(state, topic, partition, target(partition.registration), None, is_acceptable)
        for topic, partition in partitions_where(state, concerns)
    )
    return [record for record in found if record is not None]
