"""The plan of a fetch: every partition resolved once, and the errors that it has without a read."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.fetch.fetch_plan import (
    FetchIsolation,
    FetchLimits,
    FetchPlan,
    plan_fetch,
)
from harness.reference_broker.state.fetch.fetch_reading import read_partitions
from harness.reference_broker.state.fetch.fetch_sessions import FetchKey, WantedPartition
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.topics.cluster import ClusterState
from tests.reference_broker.state.partition.test_partition import NOW, Counting

FIRST = PartitionIndex(0)


def cluster_with(*names: str) -> ClusterState:
    """A cluster with topics of one partition."""
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    for name in names:
        cluster.create(name, TopicConfig.of({}, {}), 1, (), Counting())
    return cluster


def planned(cluster: ClusterState, *keys: FetchKey, **changes: Any) -> FetchPlan:
    given: dict[str, Any] = {"fetch_offset": 0, "max_bytes": 1 << 20, "current_leader_epoch": -1}
    given |= {"last_fetched_epoch": -1, **changes}
    wanted = [WantedPartition(key, **given) for key in keys]
    return plan_fetch(cluster, wanted, FetchLimits(1, 1 << 20), NOW)


def test_a_plan_has_the_partitions_in_the_order_of_the_fetch() -> None:
    keys: list[FetchKey] = [("b", FIRST), ("none", FIRST), ("a", FIRST), ("a", 7)]
    cluster = cluster_with("a", "b")
    plan = planned(cluster, *keys)
    assert list(plan.partitions) == keys
    topics = [cluster.named("a"), cluster.named("b")]
    assert plan.found == {(topic.topic_id, FIRST) for topic in topics if topic is not None}
    assert plan.missing == {("none", FIRST), ("a", 7)}


@pytest.mark.parametrize(
    ("key", "changes", "problem", "is_missing"),
    [
        (("none", 0), {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True),
        (("a", 9), {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True),
        ((UUID(int=5), 0), {}, ErrorCode.UNKNOWN_TOPIC_ID, True),
        ((UUID(int=5), 0), {"known_name": "a"}, ErrorCode.INCONSISTENT_TOPIC_ID, False),
        ((UUID(int=5), 0), {"known_name": "z"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True),
        (("a", 0), {"current_leader_epoch": 3}, ErrorCode.UNKNOWN_LEADER_EPOCH, False),
        (("a", 0), {}, ErrorCode.NONE, False),
    ],
)
def test_a_plan_has_the_error_of_the_lookup_or_of_the_checks(
    key: FetchKey, changes: dict[str, Any], problem: ErrorCode, is_missing: bool
) -> None:
    plan = planned(cluster_with("a"), key, **changes)
    assert plan.partitions[key].problem is problem
    assert plan.partitions[key].is_missing == is_missing
    (reading,) = read_partitions(plan)
    assert (reading.error, reading.is_missing) == (problem, is_missing)


def test_reads_use_the_partition_of_the_plan() -> None:
    cluster = cluster_with("a")
    plan, topic = planned(cluster, ("a", FIRST)), cluster.named("a")
    assert topic is not None
    cluster.delete(topic)
    (reading,) = read_partitions(plan)
    assert (reading.error, reading.high_watermark) == (ErrorCode.NONE, 0)
    assert planned(cluster, ("a", FIRST)).missing == {("a", FIRST)}


@pytest.mark.parametrize(
    ("replica_id", "read_committed", "isolation"),
    [
        (-1, False, FetchIsolation.HIGH_WATERMARK),
        (-1, True, FetchIsolation.TXN_COMMITTED),
        (2, True, FetchIsolation.LOG_END),
        (-3, False, FetchIsolation.LOG_END),
    ],
    ids=["consumer", "read_committed", "follower", "future replica"],
)
def test_isolation_follows_from_the_reader(
    replica_id: int, read_committed: bool, isolation: FetchIsolation
) -> None:
    limits = FetchLimits(1, 1, replica_id=replica_id, read_committed=read_committed)
    assert plan_fetch(cluster_with(), [], limits, NOW).isolation is isolation
