"""The quota of a leader on what followers fetch (KIP-73).

Source: classes ReplicaManager (shouldLeaderThrottle), KafkaApis (sizeOfThrottledPartitions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.base.ids import BrokerId
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.fetch.fetch_plan import FetchPlan
from harness.reference_broker.state.fetch.fetch_reading import PartitionReading
from harness.reference_broker.state.partition.partition import Partition


def held_from(replica_id: int, context: RequestContext) -> Callable[[Partition], bool] | None:
    """Return the check whether records are kept back from a follower; None for a consumer.

    Followers in sync do not wait.
    """
    if replica_id < 0:
        return None
    state, follower = context.state, BrokerId(replica_id)

    def is_held(partition: Partition) -> bool:
        if partition.leading is None or follower in partition.leading.isr:
            return False
        return _is_listed(partition, context) and state.leader_quota.is_exceeded(context.now())

    return is_held


def count_replicated(
    plan: FetchPlan, readings: Iterable[PartitionReading], context: RequestContext
) -> None:
    """Count the records of listed replicas that a response has."""
    for reading in readings:
        partition = plan.partitions[reading.key].partition
        if reading.records and partition is not None and _is_listed(partition, context):
            context.state.leader_quota.record(len(reading.records), context.now())


def _is_listed(partition: Partition, context: RequestContext) -> bool:
    state = context.state
    return state.leader_quota.is_listed(partition.config, partition.index, state.identity.broker_id)
