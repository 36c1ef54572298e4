"""Error messages without an error, null or empty as Kafka sends them."""

from __future__ import annotations

import pytest

from harness.client.connection import Connection
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    FindCoordinatorRequest,
    ListPartitionReassignmentsRequest,
)
from tests.reference_broker.conftest import TOPIC
from tests.reference_broker.running import Address

Topic = AlterPartitionReassignmentsRequest.ReassignableTopic
Partition = AlterPartitionReassignmentsRequest.ReassignablePartition
UNKNOWN_TYPE, SHARE = 9, 2


def test_message_of_reassignments_is_empty_with_a_zookeeper_or_without_topics(
    release: str, connection: Connection
) -> None:
    topic = Topic(name=TOPIC, partitions=[Partition(replicas=[1])])
    asked = AlterPartitionReassignmentsRequest
    messages = [
        connection.ask(asked(topics=[]), 0).error_message,
        connection.ask(asked(topics=[topic]), 0).error_message,
        connection.ask(ListPartitionReassignmentsRequest(topics=None), 0).error_message,
    ]
    assert messages == (["", "", ""] if release == "2.8.2" else ["", None, None])


@pytest.mark.parametrize("key_type", [SHARE, UNKNOWN_TYPE])
def test_coordinator_has_a_message_for_an_unknown_key_type_alone(
    address: Address, key_type: int
) -> None:
    with Connection(address) as connection:
        request = FindCoordinatorRequest(coordinator_keys=["g"], key_type=key_type)
        (found,) = connection.ask(request, 4).coordinators
    assert found.error_code
    assert found.error_message is not None
    assert bool(found.error_message) is (key_type == UNKNOWN_TYPE)
