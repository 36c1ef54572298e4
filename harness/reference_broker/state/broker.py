"""Everything that one broker knows, put together from its settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.ids import BrokerId
from harness.reference_broker.state.cluster import Cluster
from harness.reference_broker.state.creation_refused import CreationRefused
from harness.reference_broker.state.fetch_sessions import FetchSessions
from harness.reference_broker.state.producer_ids import ProducerIds
from harness.reference_broker.state.randomness import Randomness
from harness.reference_broker.state.topic import Topic
from harness.reference_broker.state.topic_creation import (
    CreationDefaults,
    PlannedTopic,
    WantedTopic,
    plan_topic,
)
from harness.reference_broker.state.topic_names import (
    GROUP_METADATA_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
)


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """How clients see this node. `cluster_id` is 22 characters of url-safe base64."""

    broker_id: BrokerId
    host: str
    port: int
    rack: str | None
    cluster_id: str


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """Settings that handlers ask for."""

    auto_create_topics: bool
    delete_topics: bool
    describe_partitions: int
    fetch_max_bytes: int
    transaction_max_timeout_ms: int


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """How an internal topic is created when its coordinator is first looked for."""

    partition_count: int
    configs: Mapping[str, str]


@dataclass(slots=True)
class BrokerState:
    """The state behind all handlers of one broker."""

    identity: BrokerIdentity
    limits: BrokerLimits
    creation_defaults: CreationDefaults
    internal_topics: Mapping[str, InternalTopic]
    cluster: Cluster
    fetch_sessions: FetchSessions
    producer_ids: ProducerIds

    def create_topic(self, plan: PlannedTopic, randomness: Randomness) -> Topic:
        """Carry out what `plan_topic` found possible."""
        return self.cluster.create(
            plan.name, plan.config, plan.partition_count, plan.replicas, randomness
        )

    def auto_create_topic(self, name: str, randomness: Randomness) -> None:
        """Create a topic because somebody asked for it; one that may not exist is left out."""
        internal = self.internal_topics.get(name)
        wanted = (
            WantedTopic(name)
            if internal is None
            else WantedTopic(name, internal.partition_count, configs=dict(internal.configs))
        )
        try:
            plan = plan_topic(wanted, self.cluster, self.creation_defaults)
        except CreationRefused:
            return
        self.create_topic(plan, randomness)


@dataclass(frozen=True, slots=True)
class InternalTopicSizes:
    """Partition count and segment size of each internal topic."""

    group_metadata: tuple[int, int]
    transaction_state: tuple[int, int]
    share_group_state: tuple[int, int]


def internal_topics_of(sizes: InternalTopicSizes) -> dict[str, InternalTopic]:
    """The internal topics with the configs that Kafka gives them."""

    def compacted(partitions: int, segment_bytes: int, compression: str) -> InternalTopic:
        return InternalTopic(
            partitions,
            {
                "cleanup.policy": "compact",
                "compression.type": compression,
                "segment.bytes": str(segment_bytes),
            },
        )

    return {
        GROUP_METADATA_TOPIC: compacted(*sizes.group_metadata, "producer"),
        TRANSACTION_STATE_TOPIC: compacted(*sizes.transaction_state, "uncompressed"),
        SHARE_GROUP_STATE_TOPIC: InternalTopic(
            sizes.share_group_state[0],
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "retention.ms": "-1",
                "segment.bytes": str(sizes.share_group_state[1]),
            },
        ),
    }
