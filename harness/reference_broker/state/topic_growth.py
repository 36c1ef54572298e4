"""Whether a topic may be given more partitions.

Source: class ReplicationControlManager (createPartitions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.ids import BrokerId
from harness.reference_broker.state.cluster import Cluster
from harness.reference_broker.state.creation_limits import check_partitions_asked
from harness.reference_broker.state.creation_refused import CreationRefused
from harness.reference_broker.state.replica_assignment import bad_assignment, check_replicas
from harness.reference_broker.state.topic import Topic


@dataclass(frozen=True, slots=True)
class WantedGrowth:
    """The partitions that a topic shall have in all.

    `assignments` holds broker ids for each new one, None leaves them to the broker.
    """

    name: str
    partition_count: int
    assignments: Sequence[Sequence[int]] | None


@dataclass(frozen=True, slots=True)
class PlannedGrowth:
    """A growth that may be carried out."""

    topic: Topic
    partition_count: int


def plan_growth(
    wanted: Sequence[WantedGrowth], cluster: Cluster, own: BrokerId
) -> list[PlannedGrowth | CreationRefused]:
    """What becomes of each topic of one request.

    Raises CreationRefused when the request asks for too much as a whole.
    """
    check_partitions_asked(
        growth.partition_count - len(topic.partitions)
        for growth in wanted
        if (topic := cluster.named(growth.name)) is not None
    )
    return [_outcome(growth, cluster, own) for growth in wanted]


def _outcome(
    wanted: WantedGrowth, cluster: Cluster, own: BrokerId
) -> PlannedGrowth | CreationRefused:
    topic = cluster.named(wanted.name)
    if topic is None:
        return CreationRefused(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic '{wanted.name}'."
        )
    added = wanted.partition_count - len(topic.partitions)
    try:
        _check_added(added, len(topic.partitions))
        _check_assignments(wanted.assignments, added, topic, own)
    except CreationRefused as refusal:
        return refusal
    return PlannedGrowth(topic, wanted.partition_count)


def _check_added(added: int, present: int) -> None:
    if added <= 0:
        raise CreationRefused(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic has {present} partitions: {present + added} would not be more.",
        )


def _check_assignments(
    assignments: Sequence[Sequence[int]] | None, added: int, topic: Topic, own: BrokerId
) -> None:
    if assignments is None:
        return
    if len(assignments) != added:
        raise bad_assignment(f"{added} partitions are added, {len(assignments)} are assigned.")
    for brokers in assignments:
        check_replicas(brokers, len(topic.replicas), own)
