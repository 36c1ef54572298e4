"""TOPIC: assignments of replicas that a cluster of any size refuses."""

from __future__ import annotations

from collections.abc import Sequence

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
    creatable,
    described,
    expect_not_created,
)

HERE, ABSENT = 0, 1
"""Stand for a broker of the cluster and for the id of none."""
BAD: dict[str, list[tuple[int, list[int]]]] = {
    "a broker twice": [(0, [HERE, HERE])],
    "an unknown broker": [(0, [ABSENT])],
    "an unknown broker of the second partition": [(0, [HERE]), (1, [ABSENT])],
    "no replica": [(0, [])],
    "a gap in the partitions": [(0, [HERE]), (2, [HERE])],
    "no partition 0": [(1, [HERE])],
}


def _assigned(
    name: str, assignment: Sequence[tuple[int, Sequence[int]]], ids: Sequence[int]
) -> Creatable:
    made = creatable(name, BROKERS_DEFAULT, BROKERS_DEFAULT)
    made.assignments = [
        CreateTopicsRequest.CreatableReplicaAssignment(
            partition_index=index, broker_ids=[ids[stand_in] for stand_in in brokers]
        )
        for index, brokers in assignment
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
    known = [node.node_id for node in broker.metadata([]).brokers]
    ids = (known[0], max(known) + 1000)
    with requirement("TOPIC-012"):
        results = ask_to_create(
            broker,
            api_version,
            _assigned(bad, BAD[form], ids),
            _assigned(good, [(1, [HERE]), (0, [HERE])], ids),
        )
        results.expect(bad, ErrorCode.INVALID_REPLICA_ASSIGNMENT, form)
        results.expect(good, ErrorCode.NONE, "the topic after it")
        expect_not_created(broker, bad)
        found = [one.partition_index for one in described(broker, good).partitions]
        assert sorted(found) == [0, 1], f"the topic after it has the partitions {found}"
