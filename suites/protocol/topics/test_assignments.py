"""TOPIC: assignments of replicas that a cluster of any size refuses."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.topic_admin import (
    BROKERS_DEFAULT,
    Creatable,
    ask_to_create,
    ask_to_grow,
    creatable,
    described,
    expect_not_created,
    partition_count,
)

BAD: dict[str, dict[int, int]] = {
    "a broker twice": {0: 2},
    "a gap in the partitions": {0: 1, 2: 1},
    "no partition 0": {1: 1},
}
"""How many times one broker is named, by partition.

With a ZooKeeper these are refused too; for unknown brokers see the tests of clusters.
"""
GOOD = {1: 1, 0: 1}


def _assigned(name: str, counts: Mapping[int, int], here: int) -> Creatable:
    made = creatable(name, BROKERS_DEFAULT, BROKERS_DEFAULT)
    made.assignments = [
        CreateTopicsRequest.CreatableReplicaAssignment(
            partition_index=index, broker_ids=[here] * count
        )
        for index, count in counts.items()
    ]
    return made


@judges("TOPIC-012")
@at_versions("CreateTopics")
@pytest.mark.parametrize("form", BAD)
def test_create_topics_with_impossible_assignment_returns_invalid_replica_assignment(
    broker: BrokerUnderTest, api_version: int, form: str
) -> None:
    """The topic is not created; the topic after it is, with both partitions."""
    bad, good = broker.unique_topic(), broker.unique_topic()
    here = broker.metadata([]).brokers[0].node_id
    with requirement("TOPIC-012"):
        results = ask_to_create(
            broker,
            api_version,
            _assigned(bad, BAD[form], here),
            _assigned(good, GOOD, here),
        )
        results.expect(bad, ErrorCode.INVALID_REPLICA_ASSIGNMENT, form)
        results.expect(good, ErrorCode.NONE, "the topic after it")
        expect_not_created(broker, bad)
        found = [one.partition_index for one in described(broker, good).partitions]
        assert sorted(found) == [0, 1], f"the topic after it has the partitions {found}"


HERE, ABSENT = 0, 1
"""Stand for the broker of the topic and for the id of none."""
BAD_GROWTH: dict[str, list[list[int]]] = {
    "none": [],
    "too few": [[HERE]],
    "too many": [[HERE], [HERE], [HERE]],
    "a broker twice": [[HERE], [HERE, HERE]],
    "an unknown broker": [[HERE], [ABSENT]],
    "no replica": [[HERE], []],
}


@judges("TOPIC-026")
@at_versions("CreatePartitions")
@pytest.mark.parametrize("form", BAD_GROWTH)
def test_create_partitions_with_impossible_assignment_returns_invalid_replica_assignment(
    broker: BrokerUnderTest, api_version: int, form: str
) -> None:
    """Two partitions are to be added; the topic grows by a right assignment afterwards."""
    topic = broker.create_topic()
    shown = described(broker, topic.name).partitions[0]
    here, absent = shown.leader_id, max(node.node_id for node in broker.metadata([]).brokers) + 1000
    assigned = [[(here, absent)[one] for one in each] for each in BAD_GROWTH[form]]
    with requirement("TOPIC-026"):
        growth = (topic.name, 3)
        refused = ask_to_grow(broker, api_version, growth, assignments=assigned)
        refused.expect(topic.name, ErrorCode.INVALID_REPLICA_ASSIGNMENT, form)
        right = [shown.replica_nodes] * 2
        ask_to_grow(broker, api_version, growth, assignments=right).expect(
            topic.name, ErrorCode.NONE, f"a right assignment after one with {form}"
        )
        described(broker, topic.name, partitions=3)
        found = partition_count(broker, topic)
        assert found == 3, f"the topic has {found} partitions, expected 3"
