"""The checks of partitions to add to a topic, and the plan of their replicas.

Source: class ReplicationControlManager (createPartitions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.randomness import Randomness
from harness.reference_broker.state.registrations.brokers import Brokers
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.creation_limits import check_partitions_asked
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.replica_assignment import (
    bad_assignment,
    check_replicas,
    new_partition,
    none_active,
)
from harness.reference_broker.state.topics.replica_placement import PlacementRefused, place
from harness.reference_broker.state.topics.topic import TopicState


@dataclass(frozen=True, slots=True)
class WantedGrowth:
    """The total number of partitions that a client requests for a topic.

    `assignments` has the broker ids of each new partition; None leaves them to the broker.
    """

    name: str
    partition_count: int
    assignments: Sequence[Sequence[int]] | None


@dataclass(frozen=True, slots=True)
class PlannedGrowth:
    """A growth that may be carried out."""

    topic: TopicState
    partitions: tuple[PartitionRegistration, ...]


def plan_growth(
    wanted: Sequence[WantedGrowth], cluster: ClusterState, randomness: Randomness
) -> list[PlannedGrowth | CreationRefused]:
    """Return the plan or the refusal of each topic of one request.

    Raises CreationRefused if the request as a whole asks for too much.
    """
    check_partitions_asked(
        growth.partition_count - len(topic.partitions)
        for growth in wanted
        if (topic := cluster.named(growth.name)) is not None
    )
    return [_outcome(growth, cluster, randomness) for growth in wanted]


def _outcome(
    wanted: WantedGrowth, cluster: ClusterState, randomness: Randomness
) -> PlannedGrowth | CreationRefused:
    topic = cluster.named(wanted.name)
    if topic is None:
        return CreationRefused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic '{wanted.name}'."
        )
    added = wanted.partition_count - len(topic.partitions)
    try:
        _check_added(added, len(topic.partitions))
        return PlannedGrowth(topic, _added(wanted, added, topic, cluster.host.brokers, randomness))
    except CreationRefused as refusal:
        return refusal


def _check_added(added: int, present: int) -> None:
    if added <= 0:
        raise CreationRefused(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic has {present} partitions: {present + added} would not be more.",
        )


def _added(
    wanted: WantedGrowth, added: int, topic: TopicState, brokers: Brokers, randomness: Randomness
) -> tuple[PartitionRegistration, ...]:
    factor, assignments = topic.replication_factor, wanted.assignments
    if assignments is None:
        refusal = CreationRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {factor} time(s): no broker can lead.",
        )
        try:
            placed = place(brokers.all(), added, factor, randomness)
        except PlacementRefused as problem:
            raise refusal from problem
        return tuple(new_partition(replicas, brokers, refusal) for replicas in placed)
    if len(assignments) != added:
        raise bad_assignment(f"{added} partitions are added, {len(assignments)} are assigned.")
    for replicas in assignments:
        check_replicas(replicas, factor, brokers)
    first = len(topic.partitions)
    return tuple(
        new_partition(replicas, brokers, none_active(index))
        for index, replicas in enumerate(assignments, first)
    )
