"""Replicas are moved to other brokers. Source: KIP-455, classes ReplicationControlManager and
PartitionReassignmentRevert.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.codec.error_code import ErrorCode
from harness.codec.messages import PartitionChangeRecord
from harness.reference_broker.state.controller.circumstances import changed
from harness.reference_broker.state.controller.leader_election import Election
from harness.reference_broker.state.controller.partition_change import TargetReplicas, without
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER_CHANGE,
    ids_of,
)
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.replica_assignment import bad_assignment, check_replicas

if TYPE_CHECKING:
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.topics.topic import TopicState


def reassigned(
    state: BrokerState,
    topic: TopicState,
    partition: Partition,
    replicas: Sequence[int],
    *,
    keeps_factor: bool = False,
) -> PartitionChangeRecord | None:
    """Return the record that moves a partition; None if it is there already. Raises
    CreationRefused.

    The old replicas stay until all new ones are in sync.
    """
    check_replicas(replicas, None, state.brokers)
    if keeps_factor:
        check_factor(partition, replicas)
    present, wanted = partition.registration.replicas, ids_of(replicas)
    removing = tuple(sorted(set(present) - set(wanted)))
    adding = tuple(sorted(set(wanted) - set(present)))
    target = TargetReplicas(
        replicas=(*wanted, *removing), removing=removing or None, adding=adding or None
    )
    record = changed(state, topic, partition, target, Election.ONLINE)  # never unclean
    return _in_new_epoch(record, topic, partition) if _begins_epoch(state) else record


def _begins_epoch(state: BrokerState) -> bool:
    """True if a new epoch begins with each step of a move, also where the leader stays.

    Source: class KafkaController (updateLeaderEpochAndSendRequest).
    """
    return state.like.keeps_topics_in_zookeeper


def _in_new_epoch(
    record: PartitionChangeRecord | None, topic: TopicState, partition: Partition
) -> PartitionChangeRecord:
    made = record or PartitionChangeRecord(topic_id=topic.topic_id, partition_id=partition.index)
    if made.leader == NO_LEADER_CHANGE:
        made.leader = partition.registration.leader
    return made


def cancelled(
    state: BrokerState, topic: TopicState, partition: Partition
) -> PartitionChangeRecord | None:
    """Return the record that restores the replicas before the move. Raises CreationRefused."""
    registered = partition.registration
    if not registered.is_reassigned:
        raise CreationRefused(
            ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No reassignment is in progress."
        )
    replicas = without(registered.replicas, *registered.adding)
    isr = without(registered.isr, *registered.adding)
    if not isr:
        if not topic.config.elects_unclean:
            raise bad_assignment("Going back would require an unclean leader election.")
        isr = replicas[:1]
    target = TargetReplicas(isr=isr, replicas=replicas, removing=(), adding=())
    return changed(state, topic, partition, target)


def check_factor(partition: Partition, replicas: Sequence[int]) -> None:
    """Raise CreationRefused if the number of replicas would differ from the present one, or, during
    a move, from the one after it (KIP-860).
    """
    registered = partition.registration
    factor = len(without(registered.replicas, *registered.removing))
    if len(replicas) != factor:
        raise CreationRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The partition has {factor} replicas, and {len(replicas)} are asked for.",
        )
