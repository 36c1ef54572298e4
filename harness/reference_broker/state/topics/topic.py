"""A topic and its partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.topics.topic_names import INTERNAL_TOPICS

if TYPE_CHECKING:
    from harness.reference_broker.state.partition.partition import Partition


@dataclass(slots=True)
class TopicState:
    """Partitions are numbered from 0 without gaps."""

    name: str
    topic_id: UUID
    config: TopicConfig
    partitions: list[Partition]

    @property
    def is_internal(self) -> bool:
        """True if only the broker itself writes to the topic."""
        return self.name in INTERNAL_TOPICS

    @property
    def replication_factor(self) -> int:
        """The replication factor of the first partition: added partitions get as many replicas."""
        return len(self.partitions[0].registration.replicas)

    def configure(self, config: TopicConfig) -> None:
        """Use `config` for all partitions from now on."""
        self.config = config
        for partition in self.partitions:
            partition.config = config

    def partition(self, index: int) -> Partition | None:
        """Return the partition; None if the topic has no such number."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None
