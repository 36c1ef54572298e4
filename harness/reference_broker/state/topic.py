"""A topic and its partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from harness.reference_broker.state.topic_configs import TopicConfig
from harness.reference_broker.state.topic_names import INTERNAL_TOPICS

if TYPE_CHECKING:
    from harness.reference_broker.state.partition import Partition


@dataclass(slots=True)
class Topic:
    """Partitions are numbered from 0 without gaps."""

    name: str
    topic_id: UUID
    config: TopicConfig
    partitions: list[Partition]

    @property
    def is_internal(self) -> bool:
        """Whether only the broker itself writes here."""
        return self.name in INTERNAL_TOPICS

    @property
    def replication_factor(self) -> int:
        """That of the first partition: added ones get as many replicas."""
        return len(self.partitions[0].registration.replicas)

    def configure(self, config: TopicConfig) -> None:
        """Have all partitions do from now on as `config` says."""
        self.config = config
        for partition in self.partitions:
            partition.config = config

    def partition(self, index: int) -> Partition | None:
        """The partition, or None when the topic has no such number."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None
