"""The whole state of one broker, built from its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from harness.base.ids import BrokerId, TimeMs
from harness.reference_broker.effects import CreationWanted, Effect
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.acls.acl_index import AclIndex
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.credentials.delegation_tokens import DelegationTokens
from harness.reference_broker.state.credentials.scram_credentials import ScramCredentials
from harness.reference_broker.state.fetch.fetch_sessions import FetchSessions
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_log import GroupLog
from harness.reference_broker.state.groups.group_offsets import offsets_age_since
from harness.reference_broker.state.groups.group_states import GroupState
from harness.reference_broker.state.groups.groups import Groups
from harness.reference_broker.state.producers.producer_ids import ProducerIds
from harness.reference_broker.state.quotas.client_quotas import ClientQuotas
from harness.reference_broker.state.quotas.replication_quota import (
    FOLLOWER,
    LEADER,
    ReplicationQuota,
)
from harness.reference_broker.state.randomness import Randomness, random_uuid
from harness.reference_broker.state.registrations.brokers import Brokers
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.topic import TopicState
from harness.reference_broker.state.topics.topic_creation import (
    USE_DEFAULT,
    CreationDefaults,
    PlannedTopic,
    WantedTopic,
    plan_topic,
)
from harness.reference_broker.state.topics.topic_names import (
    GROUP_METADATA_TOPIC,
    SHARE_GROUP_STATE_TOPIC,
    TRANSACTION_STATE_TOPIC,
)
from harness.reference_broker.state.transactions.marker_writing import MarkerWriter, settle
from harness.reference_broker.state.transactions.transactions import Transactions

if TYPE_CHECKING:
    from harness.codec.structs import Message
    from harness.reference_broker.state.acls.authorizer import Authorizer

GROUPS_KEEP_OFFSETS = (2, 1)  # KIP-211
_GROUPS_OUTLIVE_OFFSETS = (4, 0)  # the coordinator of KIP-848
_IN_SYNC = "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """Ids and address of this node. `cluster_id` is 22 characters of url-safe base64."""

    broker_id: BrokerId
    host: str
    port: int
    rack: str | None
    cluster_id: str


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """Settings that handlers read. `memory_bytes` is the memory that the machine has for logs."""

    auto_create_topics: bool
    delete_topics: bool
    describe_partitions: int
    fetch_max_bytes: int
    memory_bytes: int
    offset_commit_timeout_ms: int


@dataclass(frozen=True, slots=True)
class InternalTopic:
    """Settings of an internal topic, created when a client first looks for its coordinator.

    The topic gets no more replicas than there are brokers.
    """

    partition_count: int
    replication_factor: int
    configs: Mapping[str, str]


class BrokerPlace(NamedTuple):
    """Address of a broker for clients of one listener."""

    host: str
    port: int
    rack: str | None


@dataclass(slots=True)
class BrokerState:
    """The state behind all handlers of one broker.

    `client_metrics` and `group_configs` contain the configs that clients have set for each of them,
    by name. `is_member`: another node is the controller, and only it may change the metadata.
    `write_metadata` appends records to the log of a controller before `apply_records` applies
    them. `effects` are pending effects that no request has asked for. Without an `authorizer`
    every client may do everything, and access control lists cannot be changed.
    """

    identity: BrokerIdentity
    limits: BrokerLimits
    creation_defaults: CreationDefaults
    internal_topics: Mapping[str, InternalTopic]
    like: EmulatedRelease
    cluster: ClusterState
    fetch_sessions: FetchSessions
    producer_ids: ProducerIds
    client_quotas: ClientQuotas
    configs: BrokerConfigLayers
    committed_offsets: CommittedOffsets
    groups: Groups
    group_log: GroupLog
    transactions: Transactions
    marker_writer: MarkerWriter
    apply_records: Callable[[BrokerState, Sequence[Message], TimeMs], None]
    delegation_tokens: DelegationTokens
    scram_credentials: ScramCredentials = field(default_factory=ScramCredentials)
    acls: AclIndex = field(default_factory=AclIndex)
    authorizer: Authorizer | None = None
    client_metrics: dict[str, Mapping[str, str]] = field(default_factory=dict)
    group_configs: dict[str, Mapping[str, str]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    next_producer_id: int = 0
    is_member: bool = False
    write_metadata: Callable[[Sequence[Message], TimeMs], list[Effect]] | None = None
    effects: list[Effect] = field(default_factory=list)
    leader_quota: ReplicationQuota = field(init=False)
    follower_quota: ReplicationQuota = field(init=False)

    def __post_init__(self) -> None:
        """Make the quotas on replication, which read their rates from the configs."""
        self.leader_quota = ReplicationQuota(LEADER, self.configs)
        self.follower_quota = ReplicationQuota(FOLLOWER, self.configs)

    @property
    def brokers(self) -> Brokers:
        """All brokers of the cluster."""
        return self.cluster.host.brokers

    def take_effects(self) -> list[Effect]:
        """Return and clear the effects that are pending since the last call."""
        logs = [*self.group_log.take_effects(), *self.transactions.log.take_effects()]
        taken, self.effects = [*self.effects, *logs], []
        return taken

    def settle_transactions(self, now: TimeMs) -> None:
        """Write the markers of decided transactions that can be written now."""
        if len(self.transactions.rounds):
            self.effects += settle(self.transactions, self.marker_writer, now)

    def change_metadata(self, records: Sequence[Message], now: TimeMs) -> None:
        """Write the metadata records, where there is a log for them, and apply them."""
        if self.write_metadata is not None:
            self.effects += self.write_metadata(records, now)
        self.apply_records(self, records, now)

    def topic_config(self, overrides: Mapping[str, str]) -> TopicConfig:
        """Return a topic's config: its overrides, and the defaults of this broker."""
        return TopicConfig.of(overrides, self.creation_defaults.topic_defaults, self.like)

    def endpoint_of(self, broker_id: int, listener: str) -> BrokerPlace | None:
        """Return a broker's address for clients of a listener.

        None if the broker is unknown, is fenced or does not have that listener.
        """
        registered = self.brokers.get(broker_id)
        if registered is None or registered.is_fenced or listener not in registered.listeners:
            return None
        endpoint = registered.listeners[listener]
        return BrokerPlace(endpoint.host, endpoint.port, registered.rack)

    def reconfigure_topics(self) -> None:
        """Apply the broker's present defaults to all topics."""
        inherited = self.configs.inherited_by_topics()
        self.creation_defaults = replace(self.creation_defaults, topic_defaults=inherited)
        for topic in self.cluster.topics():
            topic.configure(topic.config.inheriting(inherited))

    def create_topic(self, plan: PlannedTopic, randomness: Randomness, now: TimeMs) -> TopicState:
        """Create a topic that `plan_topic` has planned."""
        from harness.reference_broker.state.registrations.metadata_records import topic_records

        topic_id = random_uuid(randomness)
        configs = plan.config.overrides
        self.change_metadata(topic_records(plan.name, topic_id, configs, plan.partitions), now)
        created = self.cluster.with_id(topic_id)
        assert created is not None
        return created

    def forget_topic(self, topic: TopicState, now: TimeMs) -> None:
        """Remove a topic with its data and its committed offsets."""
        self.committed_offsets.remove_topic(topic.name, len(topic.partitions), now)
        # Before 4.0 this looks at every group (GroupCoordinator.handleDeletedPartitions).
        if not self.like.since(*_GROUPS_OUTLIVE_OFFSETS):
            self._forget_groups(now)
        self.effects.append(self.cluster.delete(topic))

    def delete_group(self, group: Group, now: TimeMs) -> None:
        """Remove a group without members, and its committed offsets."""
        self.committed_offsets.remove_group(group.group_id, now)
        self.groups.remove(group, now)

    def expire_offsets(self, now: TimeMs) -> None:
        """Remove expired offsets of groups, and groups without offsets and members."""

        def age_since(group_id: str, place: Place, committed: CommittedOffset) -> TimeMs | None:
            if self.committed_offsets.pending.is_pending(group_id, place):
                return None
            group = self.groups.find(group_id)
            if group is None or not self.like.since(*GROUPS_KEEP_OFFSETS):
                return committed.committed_at
            return offsets_age_since(group, place[0], committed.committed_at)

        self.committed_offsets.expire(now, age_since)
        self._forget_groups(now)

    def forget_at_once(self, group: Group, now: TimeMs) -> None:
        """Remove a group without offsets and members right after a removal of its offsets.

        Only the coordinator before 4.0 does so (``GroupCoordinator.handleDeleteOffsets``); later
        ones wait for the next `expire_offsets`.
        """
        if not self.like.since(*_GROUPS_OUTLIVE_OFFSETS):
            self._forget_unused(group, now)

    def _forget_groups(self, now: TimeMs) -> None:
        for group in list(self.groups.all()):
            self._forget_unused(group, now)

    def _forget_unused(self, group: Group, now: TimeMs) -> None:
        offsets = self.committed_offsets
        has_offsets = offsets.has_any(group.group_id) or offsets.pending.has_any(group.group_id)
        if group.state is GroupState.EMPTY and not has_offsets:
            self.groups.remove(group, now)

    def auto_create_topic(self, name: str, randomness: Randomness, now: TimeMs) -> None:
        """Create a topic that a client has asked for; do nothing if it may not exist.

        A broker that is not the controller asks the controller by an effect.
        """
        internal, defaults = self.internal_topics.get(name), self.creation_defaults
        wanted = (
            WantedTopic(name, defaults.partition_count, defaults.replication_factor)
            if internal is None
            else self._wanted_internal(name, internal)
        )
        if self.is_member:
            self.effects.append(self._creation_wanted(wanted))
            return
        try:
            plan = plan_topic(wanted, self.cluster, self.creation_defaults, randomness)
        except CreationRefused:
            return
        self.create_topic(plan, randomness, now)

    def _wanted_internal(self, name: str, internal: InternalTopic) -> WantedTopic:
        """Return an internal topic with no more replicas than brokers, in sync or not."""
        factor = min(internal.replication_factor, max(len(self.brokers.all()), 1))
        configs = dict(internal.configs)
        if _IN_SYNC in configs:
            configs[_IN_SYNC] = str(min(int(configs[_IN_SYNC]), factor))
        return WantedTopic(name, internal.partition_count, factor, configs=configs)

    def _creation_wanted(self, wanted: WantedTopic) -> CreationWanted:
        """Return the request to the controller, with the defaults of this broker."""
        defaults = self.creation_defaults
        count, factor = wanted.partition_count, wanted.replication_factor
        given = {name: value for name, value in wanted.configs.items() if value is not None}
        return CreationWanted(
            wanted.name,
            defaults.partition_count if count == USE_DEFAULT else count,
            defaults.replication_factor if factor == USE_DEFAULT else factor,
            tuple(given.items()),
        )


@dataclass(frozen=True, slots=True)
class InternalTopicSizes:
    """Partition count, replication factor and segment size of each internal topic.

    `transaction_state_in_sync`: the replicas that need to have a record of a transaction.
    """

    group_metadata: tuple[int, int, int]
    transaction_state: tuple[int, int, int]
    share_group_state: tuple[int, int, int]
    transaction_state_in_sync: int


def internal_topics_of(sizes: InternalTopicSizes) -> dict[str, InternalTopic]:
    """Return the internal topics with the configs that Kafka gives them."""

    def compacted(
        partitions: int, factor: int, segment_bytes: int, compression: str
    ) -> InternalTopic:
        return InternalTopic(
            partitions,
            factor,
            {
                "cleanup.policy": "compact",
                "compression.type": compression,
                "segment.bytes": str(segment_bytes),
            },
        )

    transaction_state = compacted(*sizes.transaction_state, "uncompressed")
    in_sync = {_IN_SYNC: str(sizes.transaction_state_in_sync)}
    strict = {"unclean.leader.election.enable": "false", **in_sync}
    transaction_state = replace(transaction_state, configs={**transaction_state.configs, **strict})
    return {
        GROUP_METADATA_TOPIC: compacted(*sizes.group_metadata, "producer"),
        TRANSACTION_STATE_TOPIC: transaction_state,
        SHARE_GROUP_STATE_TOPIC: InternalTopic(
            *sizes.share_group_state[:2],
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "retention.ms": "-1",
                "segment.bytes": str(sizes.share_group_state[2]),
            },
        ),
    }
