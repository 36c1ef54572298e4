"""The topics of the cluster. Only this file adds and removes them."""

from collections.abc import Iterable
from uuid import UUID

from harness.ids import BrokerId, PartitionIndex
from harness.reference_broker.effects import TopicDeleted
from harness.reference_broker.state.partition import Partition
from harness.reference_broker.state.randomness import Randomness, random_uuid
from harness.reference_broker.state.topic import Topic
from harness.reference_broker.state.topic_configs import TopicConfig
from harness.reference_broker.state.topic_names import collision_form


class Cluster:
    """All topics, by name and by id. Names are unique also when "." is read as "_"."""

    __slots__ = ("_by_form", "_by_id", "_by_name", "_producer_expiration_ms")

    def __init__(self, producer_expiration_ms: int) -> None:
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[UUID, Topic] = {}
        self._by_form: dict[str, str] = {}
        self._producer_expiration_ms = producer_expiration_ms

    def topics(self) -> Iterable[Topic]:
        """All of them, in the order of their creation."""
        return self._by_name.values()

    def named(self, name: str | None) -> Topic | None:
        """The topic of that name."""
        return None if name is None else self._by_name.get(name)

    def with_id(self, topic_id: UUID) -> Topic | None:
        """The topic of that id."""
        return self._by_id.get(topic_id)

    def colliding_with(self, name: str) -> str | None:
        """An existing name that metrics could not tell from `name`."""
        return self._by_form.get(collision_form(name))

    def create(
        self,
        name: str,
        config: TopicConfig,
        partition_count: int,
        replicas: tuple[BrokerId, ...],
        randomness: Randomness,
    ) -> Topic:
        """Add a topic with empty partitions; its name was found legal and free before."""
        topic_id = random_uuid(randomness)
        partitions = [
            Partition.empty(topic_id, PartitionIndex(index), config, self._producer_expiration_ms)
            for index in range(partition_count)
        ]
        topic = Topic(name, topic_id, config, replicas, partitions)
        self._by_name[name] = topic
        self._by_id[topic.topic_id] = topic
        self._by_form[collision_form(name)] = name
        return topic

    def delete(self, topic: Topic) -> TopicDeleted:
        """Remove a topic with its data."""
        del self._by_name[topic.name]
        del self._by_id[topic.topic_id]
        del self._by_form[collision_form(topic.name)]
        return TopicDeleted(topic.topic_id, len(topic.partitions))
