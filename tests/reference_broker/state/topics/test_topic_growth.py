import pytest

from harness.base.ids import PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.topic_growth import (
    PlannedGrowth,
    WantedGrowth,
    plan_growth,
)
from tests.reference_broker.made_cluster import CHANCE, OWN, cluster_with

ASSIGNMENT = ErrorCode.INVALID_REPLICA_ASSIGNMENT


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (WantedGrowth("other", 3, None), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (WantedGrowth("t", 2, None), ErrorCode.INVALID_PARTITIONS),
        (WantedGrowth("t", 1, [[OWN]]), ErrorCode.INVALID_PARTITIONS),
        (WantedGrowth("t", -1, None), ErrorCode.INVALID_PARTITIONS),
        (WantedGrowth("t", 4, [[OWN]]), ASSIGNMENT),
        (WantedGrowth("t", 3, []), ASSIGNMENT),
        (WantedGrowth("t", 3, [[]]), ASSIGNMENT),
        (WantedGrowth("t", 3, [[OWN, OWN]]), ASSIGNMENT),
        (WantedGrowth("t", 3, [[OWN + 1]]), ASSIGNMENT),
    ],
)
def test_invalid_partition_growth_is_refused(wanted: WantedGrowth, error: ErrorCode) -> None:
    (outcome,) = plan_growth([wanted], cluster_with(t=2), CHANCE)
    assert isinstance(outcome, CreationRefused)
    assert outcome.error is error


@pytest.mark.parametrize("assignments", [None, [[OWN], [OWN]]])
def test_growth_appends_partitions_after_existing_ones(assignments: list[list[int]] | None) -> None:
    cluster = cluster_with(t=2)
    (outcome,) = plan_growth([WantedGrowth("t", 4, assignments)], cluster, CHANCE)
    assert isinstance(outcome, PlannedGrowth)
    before = list(outcome.topic.partitions)
    for index, registration in enumerate(outcome.partitions, len(before)):
        cluster.add_partition(outcome.topic, PartitionIndex(index), registration, TimeMs(0))
    after = outcome.topic.partitions
    assert after[:2] == before
    assert [partition.index for partition in after] == [0, 1, 2, 3]
    assert {partition.topic_id for partition in after} == {outcome.topic.topic_id}


def test_growth_is_limited_to_ten_thousand_partitions() -> None:
    cluster = cluster_with(a=1, b=1)
    most = [WantedGrowth("a", 5_001, None), WantedGrowth("b", 5_001, None)]
    unknown = WantedGrowth("c", 5_001, None)
    assert len(plan_growth([*most, unknown], cluster, CHANCE)) == 3
    with pytest.raises(CreationRefused) as caught:
        plan_growth([most[0], WantedGrowth("b", 5_002, None)], cluster, CHANCE)
    assert caught.value.error is ErrorCode.POLICY_VIOLATION
