"""The state of a broker at its start, which follows from its settings."""

import base64

from harness.base.ids import BrokerId
from harness.base.operating_system import memory_bytes
from harness.reference_broker.chosen_authorizer import authorizer_of
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.acls.acl_index import AclIndex
from harness.reference_broker.state.broker import (
    BrokerIdentity,
    BrokerLimits,
    BrokerState,
    InternalTopicSizes,
    internal_topics_of,
)
from harness.reference_broker.state.config_definitions.layers import (
    ELIGIBLE_LEADERS_ARE_KEPT,
    BrokerConfigLayers,
)
from harness.reference_broker.state.credentials.delegation_tokens import (
    DelegationTokens,
    TokenLimits,
)
from harness.reference_broker.state.fetch.fetch_sessions import FetchSessions
from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets, OffsetLimits
from harness.reference_broker.state.groups.group_log import GroupLog
from harness.reference_broker.state.groups.groups import GroupLimits, Groups
from harness.reference_broker.state.metadata.metadata_image import apply_records
from harness.reference_broker.state.partition.leading import RACK_AWARE_SELECTOR, ReplicationRules
from harness.reference_broker.state.partition.replica_host import NO_BROKER, ReplicaHost
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_ids import ProducerIds
from harness.reference_broker.state.quotas.client_quotas import ClientQuotas
from harness.reference_broker.state.randomness import Randomness, random_uuid
from harness.reference_broker.state.registrations.brokers import (
    CLIENT_LISTENER,
    BrokerRegistration,
    Endpoint,
)
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.topic_creation import CreationDefaults
from harness.reference_broker.state.topics.topic_names import (
    GROUP_METADATA_TOPIC,
    TRANSACTION_STATE_TOPIC,
)
from harness.reference_broker.state.transactions.marker_writing import MarkerWriter
from harness.reference_broker.state.transactions.transaction import EPOCH_BUMPS
from harness.reference_broker.state.transactions.transaction_log import TransactionLog
from harness.reference_broker.state.transactions.transactions import (
    TransactionLimits,
    Transactions,
)

_MINUTE_MS = 60_000
_WEEK_MS = 7 * 24 * 60 * _MINUTE_MS  # transactional.id.expiration.ms
_ANY_SIZE = 2**31 - 1
_FIRST_GENERATION_WAITS = (0, 11)  # KIP-134
_GROUPS_HAVE_A_SIZE = (2, 2)  # KIP-389
_SYNCS_ARE_AWAITED = (2, 8)  # KAFKA-12890
_PROTOCOLS_ARE_WANTED = (1, 0)  # KAFKA-6005
_TIMEOUTS_CHANGE = (3, 4)  # KAFKA-14009
_REMOVED_ARE_TOLD = (2, 1)  # class GroupCoordinator (removeMemberAndUpdateGroup)
_PRODUCER_IDS_EXPIRE = (3, 4)  # KIP-854
_PRODUCERS_OUTLIVE_RECORDS = (2, 4)  # KAFKA-7190
_INSTANCES_ARE_KNOWN = (3, 0)  # class GroupCoordinator (validateCurrentMember)
_REFUSED_IDS_END = (3, 0)  # class GroupMetadata (remove)
_EXPIRED_IDS_END_DELAY = (4, 0)  # class GroupMetadataManager; before, class InitialDelayedJoin
_HELD_BELOW_MINIMUM = (3, 7)  # KAFKA-15583
_ISR_IS_SELECTED = (3, 3, 2)  # KAFKA-14372
_ANY_SEQUENCE_IS_FIRST = (2, 5)  # KAFKA-8710
_FIVE_BATCHES_ARE_KNOWN = (1, 0)  # KAFKA-5494
_OFFSETS_ARE_FENCED = (2, 5)  # KAFKA-9144
_EMPTY_TRANSACTIONS_ARE_NONE = (2, 8)  # KAFKA-10702
_PARTITIONS_ARE_VERIFIED = (3, 6)  # KIP-890, part 1
_TRANSACTION_VERSION = "transaction.version"
_ENDS_HAVE_THE_EPOCH = (2, 6)  # KAFKA-9600
_START_IS_FORGOTTEN = (4, 1)  # class TransactionMetadata (completeTransitionTo)
_FENCED_MAY_RETURN = (4, 0)  # class TransactionMetadata (prepareAbortOrCommit)
_KEY_OF_TOKENS = "delegation.token.secret.key"
_EPOCHS_ARE_RAISED = (4, 0)  # transaction.version 2 by default


def state_of(settings: BrokerSettings, host: str, port: int, randomness: Randomness) -> BrokerState:
    """Return the state of a single broker without topics; it listens at `host` and `port`."""
    cluster_id = base64.urlsafe_b64encode(random_uuid(randomness).bytes).decode().rstrip("=")
    state = _state_at(settings, Endpoint(host, port), cluster_id, ProducerIds())
    _register_alone(state.cluster, settings, Endpoint(host, port), randomness)
    if settings.like.since(*_EPOCHS_ARE_RAISED):
        state.features[_TRANSACTION_VERSION] = EPOCH_BUMPS
    return state


def member_state(settings: BrokerSettings, at: Endpoint, cluster_id: str) -> BrokerState:
    """Return the empty state of a broker in a cluster; `at` is its address for clients."""
    state = _state_at(settings, at, cluster_id, ProducerIds(in_blocks=True))
    state.is_member = True
    state.cluster.host.has_begun = False
    return state


def controller_state(settings: BrokerSettings, at: Endpoint, cluster_id: str) -> BrokerState:
    """Return the state of a controller that is no broker: registrations, and no records."""
    return _state_at(settings, at, cluster_id, ProducerIds(in_blocks=True), own=NO_BROKER)


def _state_at(
    settings: BrokerSettings,
    at: Endpoint,
    cluster_id: str,
    producer_ids: ProducerIds,
    own: BrokerId | None = None,
) -> BrokerState:
    broker_id = BrokerId(settings.number("node.id"))
    (host, port), number = at, settings.number
    configs = _configs_of(settings, host, port)
    host_of_replicas = _host_of(settings, broker_id if own is None else own)
    cluster = ClusterState(_producer_expiration(settings), host_of_replicas)
    group_log = GroupLog(lambda: cluster.named(GROUP_METADATA_TOPIC), settings.like)
    offsets = CommittedOffsets(_offset_limits(settings), group_log)
    acls = AclIndex()
    features: dict[str, int] = {}
    transaction_log = TransactionLog(
        lambda: cluster.named(TRANSACTION_STATE_TOPIC),
        lambda: features.get(_TRANSACTION_VERSION, 0),
    )
    return BrokerState(
        identity=BrokerIdentity(
            broker_id,
            host,
            port,
            settings.text("broker.rack") or None,
            cluster_id,
        ),
        limits=BrokerLimits(
            auto_create_topics=settings.flag("auto.create.topics.enable"),
            delete_topics=settings.flag("delete.topic.enable"),
            describe_partitions=number("max.request.partition.size.limit"),
            fetch_max_bytes=number("fetch.max.bytes"),
            memory_bytes=memory_bytes(),
            offset_commit_timeout_ms=number("offsets.commit.timeout.ms"),
        ),
        creation_defaults=CreationDefaults(
            number("num.partitions"),
            number("default.replication.factor"),
            configs.inherited_by_topics(),
            settings.like,
        ),
        internal_topics=internal_topics_of(_internal_sizes(settings)),
        like=settings.like,
        cluster=cluster,
        fetch_sessions=FetchSessions(number("max.incremental.fetch.session.cache.slots")),
        producer_ids=producer_ids,
        client_quotas=ClientQuotas(),
        configs=configs,
        groups=Groups(_group_limits(settings), group_log),
        group_log=group_log,
        committed_offsets=offsets,
        transactions=Transactions(_transaction_limits(settings), transaction_log, producer_ids),
        marker_writer=MarkerWriter(cluster, offsets, group_log),
        features=features,
        acls=acls,
        authorizer=authorizer_of(settings, acls),
        delegation_tokens=_tokens_of(settings),
        apply_records=apply_records,
    )


def _tokens_of(settings: BrokerSettings) -> DelegationTokens:
    limits = TokenLimits(
        settings.number("delegation.token.max.lifetime.ms"),
        settings.number("delegation.token.expiry.time.ms"),
    )
    if not settings.text(_KEY_OF_TOKENS):
        return DelegationTokens(b"", limits)
    # Not at the start: most brokers have no secrets.
    from harness.reference_broker.authentication.secret_values import secret_of

    return DelegationTokens(secret_of(settings, _KEY_OF_TOKENS).reveal().encode(), limits)


def _host_of(settings: BrokerSettings, broker_id: BrokerId) -> ReplicaHost:
    rules = ReplicationRules(
        settings.number("replica.lag.time.max.ms"),
        holds_below_minimum=settings.like.since(*_HELD_BELOW_MINIMUM),
        selects_by_rack=settings.text("replica.selector.class") == RACK_AWARE_SELECTOR,
        selects_in_sync=settings.like.since(*_ISR_IS_SELECTED),
    )
    return ReplicaHost(broker_id, rules=rules)


def _register_alone(
    cluster: ClusterState, settings: BrokerSettings, endpoint: Endpoint, randomness: Randomness
) -> None:
    """Register a single broker as the whole cluster."""
    cluster.host.brokers.put(
        BrokerRegistration(
            cluster.host.own,
            epoch=0,
            incarnation_id=random_uuid(randomness),
            listeners={CLIENT_LISTENER: endpoint},
            rack=settings.text("broker.rack") or None,
            is_fenced=False,
        )
    )


def _offset_limits(settings: BrokerSettings) -> OffsetLimits:
    return OffsetLimits(
        retention_ms=settings.number("offsets.retention.minutes") * _MINUTE_MS,
        metadata_characters=settings.number("offset.metadata.max.bytes"),
    )


def _transaction_limits(settings: BrokerSettings) -> TransactionLimits:
    verifies = settings.like.since(*_PARTITIONS_ARE_VERIFIED)
    return TransactionLimits(
        max_timeout_ms=settings.number("transaction.max.timeout.ms"),
        expiration_ms=settings.number("transactional.id.expiration.ms"),
        verifies=verifies and settings.flag("transaction.partition.verification.enable"),
        fenced_may_return=settings.like.since(*_FENCED_MAY_RETURN),
        later_epochs_count=not settings.like.since(*_ENDS_HAVE_THE_EPOCH),
        start_is_kept=not settings.like.since(*_START_IS_FORGOTTEN),
        two_phase=settings.flag("transaction.two.phase.commit.enable"),
    )


def _producer_expiration(settings: BrokerSettings) -> ProducerExpiration:
    forgets_by_producer_id = settings.like.since(*_PRODUCER_IDS_EXPIRE)
    return ProducerExpiration(
        settings.number("producer.id.expiration.ms") if forgets_by_producer_id else _WEEK_MS,
        settings.number("producer.id.expiration.check.interval.ms"),
        with_its_records=not settings.like.since(*_PRODUCERS_OUTLIVE_RECORDS),
        goes_on=settings.like.since(*_ANY_SEQUENCE_IS_FIRST),
        last_only=not settings.like.since(*_FIVE_BATCHES_ARE_KNOWN),
        fences_offsets=settings.like.since(*_OFFSETS_ARE_FENCED),
        empty_count=not settings.like.since(*_EMPTY_TRANSACTIONS_ARE_NONE),
    )


def _group_limits(settings: BrokerSettings) -> GroupLimits:
    number, since = settings.number, settings.like.since
    delay_ms = number("group.initial.rebalance.delay.ms")
    return GroupLimits(
        initial_rebalance_delay_ms=delay_ms if since(*_FIRST_GENERATION_WAITS) else None,
        min_session_timeout_ms=number("group.min.session.timeout.ms"),
        max_session_timeout_ms=number("group.max.session.timeout.ms"),
        max_size=number("group.max.size") if since(*_GROUPS_HAVE_A_SIZE) else _ANY_SIZE,
        awaits_syncs=since(*_SYNCS_ARE_AWAITED),
        wants_protocols=since(*_PROTOCOLS_ARE_WANTED),
        timeouts_change=since(*_TIMEOUTS_CHANGE),
        tells_removed=since(*_REMOVED_ARE_TOLD),
        instances_are_known=since(*_INSTANCES_ARE_KNOWN),
        refused_ids_end=since(*_REFUSED_IDS_END),
        expired_ids_end_delay=since(*_EXPIRED_IDS_END_DELAY),
        write_timeout_ms=number("offsets.commit.timeout.ms"),
    )


def _configs_of(settings: BrokerSettings, host: str, port: int) -> BrokerConfigLayers:
    """Return the configs for DescribeConfigs: the given ones, and those of the running node."""
    node_id, listener = str(settings.number("node.id")), f"PLAINTEXT://{host}:{port}"
    running = {
        "advertised.listeners": listener,
        "broker.id": node_id,
        "listeners": listener,
        "node.id": node_id,
    }
    static = {**running, **{name: text for name, text in settings.given.items() if text}}
    # With KIP-966 the whole cluster has one value from its first start on.
    in_sync = "min.insync.replicas"
    eligible = settings.like.since(*ELIGIBLE_LEADERS_ARE_KEPT)
    cluster = {in_sync: static.get(in_sync, "1")} if eligible else {}
    return BrokerConfigLayers(static, cluster=cluster, like=settings.like)


def cluster_configs(settings: BrokerSettings) -> dict[str, str]:
    """Return the configs that the controller sets for all brokers when a cluster begins."""
    return dict(_configs_of(settings, "", 0).cluster)


def _internal_sizes(settings: BrokerSettings) -> InternalTopicSizes:
    def sizes(prefix: str) -> tuple[int, int, int]:
        return (
            settings.number(f"{prefix}.num.partitions"),
            settings.number(f"{prefix}.replication.factor"),
            settings.number(f"{prefix}.segment.bytes"),
        )

    return InternalTopicSizes(
        sizes("offsets.topic"),
        sizes("transaction.state.log"),
        sizes("share.coordinator.state.topic"),
        settings.number("transaction.state.log.min.isr"),
    )
