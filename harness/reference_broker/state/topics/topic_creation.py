"""The checks of topics to create, and the plan of their configs and partitions.

Source: class ReplicationControlManager (createTopics).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.codec.error_code import ErrorCode
from harness.reference_broker.emulated_release import LIKE_NONE, EmulatedRelease
from harness.reference_broker.state.config_definitions.config_values import ConfigError
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig, configs_of
from harness.reference_broker.state.randomness import Randomness
from harness.reference_broker.state.registrations.brokers import Brokers
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.creation_limits import (
    check_changes,
    check_partitions_asked,
)
from harness.reference_broker.state.topics.creation_refused import (
    ConfigsWithoutValue,
    CreationRefused,
    SenselessValue,
)
from harness.reference_broker.state.topics.replica_assignment import (
    bad_assignment,
    check_replicas,
    new_partition,
    none_active,
)
from harness.reference_broker.state.topics.replica_placement import PlacementRefused, place
from harness.reference_broker.state.topics.topic_names import topic_name_problem

USE_DEFAULT = -1
_DEFAULTS = (2, 4)  # KIP-464
_EXISTENCE_IS_FIRST = (2, 4)  # class AdminManager


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """A topic as a client requests it; `assignments` are (partition, broker ids)."""

    name: str
    partition_count: int = USE_DEFAULT
    replication_factor: int = USE_DEFAULT
    assignments: Sequence[tuple[int, Sequence[int]]] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreationDefaults:
    """The broker's values for what the client leaves open."""

    partition_count: int
    replication_factor: int
    topic_defaults: Mapping[str, str]
    like: EmulatedRelease = LIKE_NONE


@dataclass(frozen=True, slots=True)
class PlannedTopic:
    """A topic that may be created."""

    name: str
    config: TopicConfig
    partitions: tuple[PartitionRegistration, ...]

    @property
    def replication_factor(self) -> int:
        """The replication factor of the first partition; the others have the same."""
        return len(self.partitions[0].replicas)


def plan_topics(
    wanted: Sequence[WantedTopic],
    cluster: ClusterState,
    defaults: CreationDefaults,
    randomness: Randomness,
) -> list[PlannedTopic | CreationRefused]:
    """Return the plan or the refusal of each topic of one request.

    Topics are checked against the topics that exist before the request. Raises CreationRefused if
    the request as a whole asks for too much.
    """
    check_partitions_asked(_partitions_asked(topic, defaults) for topic in wanted)
    outcomes = [_outcome(topic, cluster, defaults, randomness) for topic in wanted]
    check_changes(
        1 + len(outcome.config.overrides) + len(outcome.partitions)
        for outcome in outcomes
        if isinstance(outcome, PlannedTopic)
    )
    return outcomes


def plan_topic(
    wanted: WantedTopic, cluster: ClusterState, defaults: CreationDefaults, randomness: Randomness
) -> PlannedTopic:
    """Return the plan for a request of one topic. Raises CreationRefused."""
    (outcome,) = plan_topics([wanted], cluster, defaults, randomness)
    if isinstance(outcome, CreationRefused):
        raise outcome
    return outcome


def _partitions_asked(wanted: WantedTopic, defaults: CreationDefaults) -> int:
    if wanted.assignments:
        return len(wanted.assignments)
    count = wanted.partition_count
    return defaults.partition_count if count == USE_DEFAULT else count


def _outcome(
    wanted: WantedTopic, cluster: ClusterState, defaults: CreationDefaults, randomness: Randomness
) -> PlannedTopic | CreationRefused:
    """Check in Kafka's order: name, existence, configs, assignment."""
    try:
        if defaults.like.keeps_topics_in_zookeeper:
            return _outcome_with_zookeeper(wanted, cluster, defaults, randomness)
        _check_name(wanted.name, cluster)
        config = _config_with(_given_configs(wanted), defaults)
        if wanted.assignments:
            _check_counts_left_open(wanted)
            partitions = _assigned(wanted.assignments, cluster.host.brokers)
        else:
            partitions = _counted(wanted, cluster.host.brokers, defaults, randomness)
        return PlannedTopic(wanted.name, config, partitions)
    except CreationRefused as refusal:
        return refusal


def _outcome_with_zookeeper(
    wanted: WantedTopic, cluster: ClusterState, defaults: CreationDefaults, randomness: Randomness
) -> PlannedTopic:
    """Check in the order of class ZkAdminManager (createTopics): existence, configs without value,
    what an assignment excludes, counts, name, assignment, configs. Before 2.4 (class AdminManager)
    all configs are first, and the existence is part of the name. Raises CreationRefused.
    """
    exists_first = defaults.like.since(*_EXISTENCE_IS_FIRST)
    if exists_first:
        _check_is_new(wanted.name, cluster)
    given = _given_configs(wanted)
    config = None if exists_first else _config_with(given, defaults)
    brokers = cluster.host.brokers
    if wanted.assignments:
        _check_counts_left_open(wanted)
        _check_name(wanted.name, cluster)
        # Of a partition that is assigned twice the last brokers count.
        partitions = _assigned([*dict(wanted.assignments).items()], brokers)
    else:
        partitions = _counted(wanted, brokers, defaults, randomness)
        _check_name(wanted.name, cluster)
    return PlannedTopic(wanted.name, config or _config_with(given, defaults), partitions)


def _check_name(name: str, cluster: ClusterState) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise CreationRefused(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    _check_is_new(name, cluster)
    other = cluster.colliding_with(name)
    if other is not None:
        raise CreationRefused(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic '{other}': "
            "'.' and '_' are the same in metric names.",
        )


def _check_is_new(name: str, cluster: ClusterState) -> None:
    if cluster.named(name) is not None:
        raise CreationRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")


def _given_configs(wanted: WantedTopic) -> dict[str, str]:
    nulls = [name for name, value in wanted.configs.items() if value is None]
    if nulls:
        raise ConfigsWithoutValue(
            ErrorCode.INVALID_CONFIG, f"Topic configs need a value: {', '.join(nulls)}"
        )
    return {name: value for name, value in wanted.configs.items() if value is not None}


def _config_with(given: Mapping[str, str], defaults: CreationDefaults) -> TopicConfig:
    try:
        return TopicConfig.of(given, defaults.topic_defaults, defaults.like)
    except ConfigError as error:
        known = all(name in configs_of(defaults.like).known for name in given)
        refused = SenselessValue if known else CreationRefused
        raise refused(ErrorCode.INVALID_CONFIG, str(error)) from error


def _counted(
    wanted: WantedTopic, brokers: Brokers, defaults: CreationDefaults, randomness: Randomness
) -> tuple[PartitionRegistration, ...]:
    factor, count = wanted.replication_factor, wanted.partition_count
    problems = [
        CreationRefused(error, f"The {what} has to be above 0, or -1 for the broker's default.")
        for what, asked, error in (
            ("replication factor", factor, ErrorCode.INVALID_REPLICATION_FACTOR),
            ("number of partitions", count, ErrorCode.INVALID_PARTITIONS),
        )
        if asked < 1 and not (asked == USE_DEFAULT and defaults.like.since(*_DEFAULTS))
    ]
    if problems:  # with a ZooKeeper the partitions come first (class AdminUtils)
        raise problems[-1 if defaults.like.keeps_topics_in_zookeeper else 0]
    factor = defaults.replication_factor if factor == USE_DEFAULT else factor
    count = defaults.partition_count if count == USE_DEFAULT else count
    try:
        placed = place(brokers.all(), count, factor, randomness)
    except PlacementRefused as problem:
        raise _cannot_replicate(factor, str(problem)) from problem
    refusal = _cannot_replicate(factor, "All brokers are fenced or in controlled shutdown.")
    return tuple(new_partition(replicas, brokers, refusal) for replicas in placed)


def _cannot_replicate(factor: int, why: str) -> CreationRefused:
    return CreationRefused(
        ErrorCode.INVALID_REPLICATION_FACTOR,
        f"Unable to replicate the partition {factor} time(s): {why}",
    )


def _check_counts_left_open(wanted: WantedTopic) -> None:
    if wanted.replication_factor != USE_DEFAULT or wanted.partition_count != USE_DEFAULT:
        raise CreationRefused(
            ErrorCode.INVALID_REQUEST,
            "With a manual assignment, partitions and replication factor have to be -1.",
        )


def _assigned(
    assignments: Sequence[tuple[int, Sequence[int]]], brokers: Brokers
) -> tuple[PartitionRegistration, ...]:
    found: dict[int, PartitionRegistration] = {}
    replica_count = None
    for partition, replicas in assignments:
        if partition in found:
            raise bad_assignment(f"Partition {partition} is assigned twice.")
        check_replicas(replicas, replica_count, brokers)
        replica_count = len(replicas)
        found[partition] = new_partition(replicas, brokers, none_active(partition))
    if set(found) != set(range(len(found))):
        raise bad_assignment("Partitions have to be numbered from 0 without gaps.")
    return tuple(found[index] for index in range(len(found)))
