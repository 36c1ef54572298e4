"""The topics of the cluster. Only this file adds and removes topics and their partitions.

A broker has the metadata of all topics, and replicas of some.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from harness.base.ids import BrokerId, PartitionIndex, TimeMs
from harness.reference_broker.effects import TopicDeleted
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.randomness import Randomness, random_uuid
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.topic import TopicState
from harness.reference_broker.state.topics.topic_names import collision_form

if TYPE_CHECKING:
    from harness.reference_broker.state.partition.partition import Partition


class ClusterState:
    """All topics, by name and by id."""

    __slots__ = (
        "_by_form",
        "_by_id",
        "_by_name",
        "_producer_expiration",
        "_remembered",
        "host",
        "unlisted",
    )

    def __init__(
        self, producer_expiration: ProducerExpiration, host: ReplicaHost | None = None
    ) -> None:
        self.host = host or ReplicaHost(BrokerId(0))
        self.unlisted: TopicState | None = None  # the controller's log of metadata
        self._by_name: dict[str, TopicState] = {}
        self._by_id: dict[UUID, TopicState] = {}
        self._by_form: dict[str, list[str]] = {}
        self._producer_expiration = producer_expiration
        self._remembered = RememberedProducers()

    def topics(self) -> Iterable[TopicState]:
        """Return all topics in the order of their creation."""
        return self._by_name.values()

    def partitions(self) -> Iterable[Partition]:
        """Return the partitions of all topics."""
        return (partition for topic in self.topics() for partition in topic.partitions)

    def size_bytes(self) -> int:
        """Return the size of all logs together."""
        return sum(partition.log.size_bytes for partition in self.partitions())

    def named(self, name: str | None) -> TopicState | None:
        """Return the topic of that name; None if there is none."""
        if self.unlisted is not None and self.unlisted.name == name:
            return self.unlisted
        return None if name is None else self._by_name.get(name)

    def with_id(self, topic_id: UUID) -> TopicState | None:
        """Return the topic of that id; None if there is none."""
        if self.unlisted is not None and self.unlisted.topic_id == topic_id:
            return self.unlisted
        return self._by_id.get(topic_id)

    def colliding_with(self, name: str) -> str | None:
        """Return an existing name that is the same as `name` in metrics; None without one."""
        return next(iter(self._by_form.get(collision_form(name), ())), None)

    def create(
        self,
        name: str,
        config: TopicConfig,
        partition_count: int,
        replicas: tuple[BrokerId, ...],
        randomness: Randomness,
    ) -> TopicState:
        """Add a topic. All its partitions have these replicas, or only the host without any."""
        topic = self.add_topic(name, random_uuid(randomness), config)
        replicas = replicas or (self.host.own,)
        for index in range(partition_count):
            registration = PartitionRegistration.new(replicas, replicas)
            self.add_partition(topic, PartitionIndex(index), registration, TimeMs(0))
        return topic

    def add_topic(self, name: str, topic_id: UUID, config: TopicConfig) -> TopicState:
        """Add a topic without partitions; the caller has checked its name (legal, not in use)."""
        topic = TopicState(name, topic_id, config, partitions=[])
        self._by_name[name] = topic
        self._by_id[topic_id] = topic
        # Topics of one request may collide: they are compared with earlier topics only.
        self._by_form.setdefault(collision_form(name), []).append(name)
        return topic

    def add_partition(
        self,
        topic: TopicState,
        index: PartitionIndex,
        registration: PartitionRegistration,
        now: TimeMs,
    ) -> Partition:
        """Add the next partition, which is empty."""
        # Not at the start: the code that reads records is a fifth of all imports there.
        from harness.reference_broker.state.partition.partition import Partition

        assert index == len(topic.partitions)
        partition = Partition.empty(
            topic.topic_id,
            index,
            topic.config,
            ProducerStates(self._producer_expiration, self._remembered),
            self.host,
            registration,
            now,
            topic.name,
        )
        topic.partitions.append(partition)
        return partition

    def delete(self, topic: TopicState) -> TopicDeleted:
        """Remove a topic with its data."""
        for partition in topic.partitions:
            partition.producers.forget_all()
            partition.leave_storage()
            self.host.in_folder.pop(partition.name.place, None)
        del self._by_name[topic.name]
        del self._by_id[topic.topic_id]
        form = collision_form(topic.name)
        self._by_form[form].remove(topic.name)
        if not self._by_form[form]:
            del self._by_form[form]
        return TopicDeleted(topic.topic_id, len(topic.partitions))
