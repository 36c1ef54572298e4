from collections.abc import Sequence

import pytest

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.topic_creation import (
    CreationDefaults,
    PlannedTopic,
    WantedTopic,
    plan_topic,
    plan_topics,
)
from tests.reference_broker.made_cluster import CHANCE, OWN, add, cluster_with

DEFAULTS = CreationDefaults(3, 1, {})
MOST = 10_000


def plan(wanted: WantedTopic, defaults: CreationDefaults = DEFAULTS) -> PlannedTopic:
    return plan_topic(wanted, cluster_with(there=1), defaults, CHANCE)


def refusal(wanted: WantedTopic) -> ErrorCode:
    with pytest.raises(CreationRefused) as caught:
        plan(wanted)
    assert caught.value.message
    return caught.value.error


def counted(name: str, partitions: int, factor: int = 1, **configs: str | None) -> WantedTopic:
    given = {key.replace("_", "."): value for key, value in configs.items()}
    return WantedTopic(name, partitions, factor, configs=given)


def assigned(*assignments: tuple[int, Sequence[int]]) -> WantedTopic:
    return WantedTopic("t", assignments=assignments)


def test_topic_plan_uses_broker_defaults_for_partitions_and_replicas() -> None:
    planned = plan(WantedTopic("t"))
    assert [one.replicas for one in planned.partitions] == [(OWN,)] * 3
    impossible = CreationDefaults(3, 2, {})
    with pytest.raises(CreationRefused, match="replication factor of 2 cannot"):
        plan(WantedTopic("t"), impossible)


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (counted("", 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (counted("x" * 250, 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (counted("a\n", 1), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (counted("there", 1), ErrorCode.TOPIC_ALREADY_EXISTS),
        (counted("there", 0, no_such_config="1"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (counted("t", 0, no_such_config="1"), ErrorCode.INVALID_CONFIG),
        (counted("t", 1, retention_ms=None), ErrorCode.INVALID_CONFIG),
        (counted("t", 0, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (counted("t", 0, 2), ErrorCode.INVALID_PARTITIONS),
        (counted("t", -2), ErrorCode.INVALID_PARTITIONS),
        (counted("t", 1, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (counted("t", 1, 2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (WantedTopic("t", 1, -1, [(0, [OWN])]), ErrorCode.INVALID_REQUEST),
        (WantedTopic("t", -1, 1, [(0, [OWN])]), ErrorCode.INVALID_REQUEST),
        (assigned((0, [])), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned((0, [OWN, OWN])), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned((0, [OWN + 1])), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned((0, [OWN]), (0, [OWN])), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned((0, [OWN]), (2, [OWN])), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (assigned((-1, [OWN])), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_invalid_topic_creation_is_refused(wanted: WantedTopic, error: ErrorCode) -> None:
    assert refusal(wanted) is error


def test_replica_assignment_in_any_order_sets_partition_count() -> None:
    assert len(plan(assigned((1, [OWN]), (0, [OWN]))).partitions) == 2


def test_name_collides_only_with_existing_topics() -> None:
    cluster = cluster_with(a_b=1)
    wanted = [counted(name, 1) for name in ("a.b", "c.d", "c_d")]
    refused, *planned = plan_topics(wanted, cluster, DEFAULTS, CHANCE)
    assert isinstance(refused, CreationRefused)
    assert refused.error is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert all(isinstance(one, PlannedTopic) for one in planned)


def test_name_is_free_after_deletion_of_colliding_topics() -> None:
    cluster = cluster_with()
    both = [add(cluster, "a.b"), add(cluster, "a_b")]
    for topic in both:
        assert cluster.colliding_with("a.b") is not None
        cluster.delete(topic)
    assert cluster.colliding_with("a.b") is None


@pytest.mark.parametrize(
    "sizes", [[MOST + 1], [MOST], [MOST // 2, MOST // 2 + 1], [MOST // 2, MOST // 2]]
)
def test_creation_of_too_many_partitions_fails_whole_request(sizes: list[int]) -> None:
    wanted = [counted(f"t{number}", size) for number, size in enumerate(sizes)]
    with pytest.raises(CreationRefused) as caught:
        plan_topics(wanted, cluster_with(), DEFAULTS, CHANCE)
    assert caught.value.error is ErrorCode.POLICY_VIOLATION


def test_creation_is_limited_to_ten_thousand_records() -> None:
    assert len(plan(counted("t", MOST - 1)).partitions) == MOST - 1
    assert len(plan(counted("t", MOST - 2, retention_ms="1")).partitions) == MOST - 2
    assert refusal(counted("t", MOST - 1, retention_ms="1")) is ErrorCode.POLICY_VIOLATION


def test_refused_topics_count_by_partitions_for_creation_limit() -> None:
    with pytest.raises(CreationRefused):
        plan_topics([counted("", MOST), counted("t", 1)], cluster_with(), DEFAULTS, CHANCE)
    wanted = [counted("", -5), counted("t", 1)]
    refused, planned = plan_topics(wanted, cluster_with(), DEFAULTS, CHANCE)
    assert isinstance(refused, CreationRefused)
    assert isinstance(planned, PlannedTopic)
