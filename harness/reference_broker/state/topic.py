"""A topic and its partitions."""

from dataclasses import dataclass
from uuid import UUID

from harness.ids import BrokerId, PartitionIndex
from harness.reference_broker.state.partition import Partition
from harness.reference_broker.state.topic_configs import TopicConfig
from harness.reference_broker.state.topic_names import INTERNAL_TOPICS


@dataclass(slots=True)
class Topic:
    """Partitions are numbered from 0 without gaps; each has the same replicas, leader first."""

    name: str
    topic_id: UUID
    config: TopicConfig
    replicas: tuple[BrokerId, ...]
    partitions: list[Partition]

    @property
    def is_internal(self) -> bool:
        """Whether only the broker itself writes here."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """The partition, or None when the topic has no such number."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None


def new_topic(
    name: str,
    topic_id: UUID,
    config: TopicConfig,
    partition_count: int,
    replicas: tuple[BrokerId, ...],
    producer_expiration_ms: int,
) -> Topic:
    """A topic with empty partitions."""
    partitions = [
        Partition.empty(topic_id, PartitionIndex(index), config, producer_expiration_ms)
        for index in range(partition_count)
    ]
    return Topic(name, topic_id, config, replicas, partitions)
