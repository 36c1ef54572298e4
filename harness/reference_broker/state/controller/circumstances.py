"""The conditions for changes of a topic's partitions: registered brokers, the topic's configs.

Source: class ReplicationControlManager (LeaderAcceptor, getTopicEffectiveMinIsr).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from harness.base.ids import BrokerId
from harness.reference_broker.state.controller.leader_election import Election
from harness.reference_broker.state.controller.partition_change import (
    Circumstances,
    TargetReplicas,
    change_of,
)
from harness.reference_broker.state.topics.replica_assignment import default_directory

if TYPE_CHECKING:
    from harness.codec.messages import PartitionChangeRecord
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.registrations.partition_registration import (
        PartitionRegistration,
    )
    from harness.reference_broker.state.topics.topic import TopicState

ELIGIBLE_LEADERS = "eligible.leader.replicas.version"
_EPOCH_OUTLIVES_SHRINK = (3, 6)  # KAFKA-15021
_ADDED_REPLICAS_ARE_ENOUGH = (4, 3)  # KAFKA-19975


def changed(
    state: BrokerState,
    topic: TopicState,
    partition: Partition,
    target: TargetReplicas,
    election: Election | None = None,
    is_acceptable: Callable[[BrokerId], bool] | None = None,
) -> PartitionChangeRecord | None:
    """Return the record that changes a partition; None if nothing changes.

    If `election` is None, the topic's config decides whether the election may be unclean.
    """
    if election is None:
        election = Election.UNCLEAN if topic.config.elects_unclean else Election.ONLINE
    registered, may_lead = partition.registration, is_acceptable or state.brokers.is_active

    def can_lead(broker: BrokerId) -> bool:
        return may_lead(broker) and state.brokers.has_online(
            broker, registered.directory_of(broker)
        )

    around = Circumstances(
        can_lead,
        min(topic.config.min_insync_replicas, topic.replication_factor),
        keeps_eligible=state.features.get(ELIGIBLE_LEADERS, 0) > 0,
        shrinks_in_new_epoch=not state.like.since(*_EPOCH_OUTLIVES_SHRINK),
        awaits_present=not state.like.since(*_ADDED_REPLICAS_ARE_ENOUGH),
    )

    def directory_of(broker: BrokerId) -> UUID:
        return default_directory(broker, state.brokers)

    at = (topic.topic_id, partition.index)
    return change_of(at, registered, target, around, election, directory_of)


def partitions_where(
    state: BrokerState, concerns: Callable[[PartitionRegistration], bool]
) -> Iterator[tuple[TopicState, Partition]]:
    """Yield all partitions with a registration that satisfies `concerns`."""
    for topic in state.cluster.topics():
        for partition in topic.partitions:
            if concerns(partition.registration):
                yield topic, partition
