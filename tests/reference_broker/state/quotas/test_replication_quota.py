"""The quota on replication traffic: listed replicas, and the mean of their bytes."""

import pytest

from harness.base.ids import BrokerId, PartitionIndex, TimeMs
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.quotas.replication_quota import (
    FOLLOWER,
    LEADER,
    ReplicationQuota,
)

NOW = TimeMs(1_700_000_000_000)
RATE = "leader.replication.throttled.rate"
LIST = "leader.replication.throttled.replicas"


def at(after_ms: int) -> TimeMs:
    return TimeMs(NOW + after_ms)


def leader_quota(
    cluster: dict[str, str] | None = None, broker: dict[str, str] | None = None
) -> ReplicationQuota:
    layers = BrokerConfigLayers({}, cluster=cluster or {}, broker=broker or {})
    return ReplicationQuota(LEADER, layers)


@pytest.mark.parametrize(
    ("listed", "throttled"),
    [
        ("", []),
        ("*", [(0, 1), (0, 2), (1, 1), (1, 2)]),
        ("0:1", [(0, 1)]),
        ("0:1,1:2", [(0, 1), (1, 2)]),
        ("10:1,0:12", []),
    ],
)
def test_a_topic_lists_replicas_by_partition_and_broker(
    listed: str, throttled: list[tuple[int, int]]
) -> None:
    config, quota = TopicConfig.of({LIST: listed}, {}), leader_quota()
    pairs = [(0, 1), (0, 2), (1, 1), (1, 2)]
    found = [
        pair
        for pair in pairs
        if quota.is_listed(config, PartitionIndex(pair[0]), BrokerId(pair[1]))
    ]
    assert found == throttled


def test_the_list_of_the_other_role_does_not_count() -> None:
    config = TopicConfig.of({LIST: "*"}, {})
    quota = ReplicationQuota(FOLLOWER, BrokerConfigLayers({}))
    assert not quota.is_listed(config, PartitionIndex(0), BrokerId(1))


def test_bytes_above_the_rate_of_the_last_seconds_exceed_it() -> None:
    quota = leader_quota(broker={RATE: "1000"})
    assert not quota.is_exceeded(NOW)
    quota.record(1_000, NOW)
    assert not quota.is_exceeded(NOW), "a young rate counts as one second"
    quota.record(1_000, NOW)
    assert quota.is_exceeded(at(1_900))
    assert not quota.is_exceeded(at(2_000))


def test_bytes_are_forgotten_after_eleven_seconds() -> None:
    quota = leader_quota(broker={RATE: "1"})
    quota.record(1_000_000, NOW)
    assert quota.is_exceeded(at(10_999))
    assert not quota.is_exceeded(at(11_000))


def test_the_rate_of_this_broker_comes_before_that_of_all() -> None:
    for quota, exceeds in (
        (leader_quota(), False),
        (leader_quota(cluster={RATE: "1"}), True),
        (leader_quota(cluster={RATE: "1"}, broker={RATE: "9999"}), False),
    ):
        quota.record(5_000, NOW)
        assert quota.is_exceeded(NOW) is exceeds
