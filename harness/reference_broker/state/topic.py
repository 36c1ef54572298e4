"""A topic and its partitions."""

from dataclasses import dataclass
from uuid import UUID

from harness.ids import BrokerId
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
