"""Whether a topic may be created as asked, and with what it is created.

Source: class ReplicationControlManager (createTopics).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.codec.error_code import ErrorCode
from harness.ids import BrokerId
from harness.reference_broker.likeness import LIKE_NONE, Likeness
from harness.reference_broker.state.cluster import Cluster
from harness.reference_broker.state.config_values import ConfigError
from harness.reference_broker.state.creation_limits import check_changes, check_partitions_asked
from harness.reference_broker.state.creation_refused import (
    ConfigsWithoutValue,
    CreationRefused,
    SenselessValue,
)
from harness.reference_broker.state.replica_assignment import bad_assignment, check_replicas
from harness.reference_broker.state.topic_configs import TopicConfig, configs_of
from harness.reference_broker.state.topic_names import topic_name_problem

USE_DEFAULT = -1


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """A topic as a client asks for it; `assignments` are (partition, broker ids)."""

    name: str
    partition_count: int = USE_DEFAULT
    replication_factor: int = USE_DEFAULT
    assignments: Sequence[tuple[int, Sequence[int]]] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreationDefaults:
    """What the broker is configured to do where the client leaves it open."""

    broker_id: BrokerId
    partition_count: int
    replication_factor: int
    topic_defaults: Mapping[str, str]
    like: Likeness = LIKE_NONE


@dataclass(frozen=True, slots=True)
class PlannedTopic:
    """A topic that may be created."""

    name: str
    config: TopicConfig
    partition_count: int
    replicas: tuple[BrokerId, ...]


def plan_topics(
    wanted: Sequence[WantedTopic], cluster: Cluster, defaults: CreationDefaults
) -> list[PlannedTopic | CreationRefused]:
    """What becomes of each topic of one request, beside the topics that are there before it.

    Raises CreationRefused when the request asks for too much as a whole.
    """
    check_partitions_asked(_partitions_asked(topic, defaults) for topic in wanted)
    outcomes = [_outcome(topic, cluster, defaults) for topic in wanted]
    check_changes(
        1 + len(outcome.config.overrides) + outcome.partition_count
        for outcome in outcomes
        if isinstance(outcome, PlannedTopic)
    )
    return outcomes


def plan_topic(wanted: WantedTopic, cluster: Cluster, defaults: CreationDefaults) -> PlannedTopic:
    """The same for a request of one topic. Raises CreationRefused."""
    (outcome,) = plan_topics([wanted], cluster, defaults)
    if isinstance(outcome, CreationRefused):
        raise outcome
    return outcome


def _partitions_asked(wanted: WantedTopic, defaults: CreationDefaults) -> int:
    if wanted.assignments:
        return len(wanted.assignments)
    count = wanted.partition_count
    return defaults.partition_count if count == USE_DEFAULT else count


def _outcome(
    wanted: WantedTopic, cluster: Cluster, defaults: CreationDefaults
) -> PlannedTopic | CreationRefused:
    """Checks in Kafka's order: name, existence, configs, assignment."""
    try:
        _check_name(wanted.name, cluster)
        config = _config_of(wanted, defaults)
        if wanted.assignments:
            return _plan_assigned(wanted, config, defaults)
        return _plan_counted(wanted, config, defaults)
    except CreationRefused as refusal:
        return refusal


def _check_name(name: str, cluster: Cluster) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise CreationRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if cluster.named(name) is not None:
        raise CreationRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    other = cluster.colliding_with(name)
    if other is not None:
        raise CreationRefused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic '{other}': "
            "'.' and '_' are the same in metric names.",
        )


def _config_of(wanted: WantedTopic, defaults: CreationDefaults) -> TopicConfig:
    nulls = [name for name, value in wanted.configs.items() if value is None]
    if nulls:
        raise ConfigsWithoutValue(
            ErrorCode.INVALID_CONFIG, f"Topic configs need a value: {', '.join(nulls)}"
        )
    given = {name: value for name, value in wanted.configs.items() if value is not None}
    try:
        return TopicConfig.of(given, defaults.topic_defaults, defaults.like)
    except ConfigError as error:
        known = all(name in configs_of(defaults.like).known for name in given)
        refused = SenselessValue if known else CreationRefused
        raise refused(ErrorCode.INVALID_CONFIG, str(error)) from error


def _plan_counted(
    wanted: WantedTopic, config: TopicConfig, defaults: CreationDefaults
) -> PlannedTopic:
    factor, count = wanted.replication_factor, wanted.partition_count
    if factor == 0 or factor < USE_DEFAULT:
        raise CreationRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "The replication factor has to be above 0, or -1 for the broker's default.",
        )
    if count == 0 or count < USE_DEFAULT:
        raise CreationRefused(
            ErrorCode.INVALID_PARTITIONS,
            "The number of partitions has to be above 0, or -1 for the broker's default.",
        )
    factor = defaults.replication_factor if factor == USE_DEFAULT else factor
    if factor > 1:
        raise CreationRefused(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"A replication factor of {factor} is not possible with 1 registered broker.",
        )
    count = defaults.partition_count if count == USE_DEFAULT else count
    return PlannedTopic(wanted.name, config, count, (defaults.broker_id,))


def _plan_assigned(
    wanted: WantedTopic, config: TopicConfig, defaults: CreationDefaults
) -> PlannedTopic:
    if wanted.replication_factor != USE_DEFAULT or wanted.partition_count != USE_DEFAULT:
        raise CreationRefused(
            ErrorCode.INVALID_REQUEST,
            "With a manual assignment, partitions and replication factor have to be -1.",
        )
    seen: set[int] = set()
    replica_count = None
    for partition, brokers in wanted.assignments:
        if partition in seen:
            raise bad_assignment(f"Partition {partition} is assigned twice.")
        seen.add(partition)
        check_replicas(brokers, replica_count, defaults.broker_id)
        replica_count = len(brokers)
    if seen != set(range(len(seen))):
        raise bad_assignment("Partitions have to be numbered from 0 without gaps.")
    return PlannedTopic(wanted.name, config, len(seen), (defaults.broker_id,))
