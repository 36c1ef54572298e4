"""The built-in broker with its logs in files keeps what Kafka of its release keeps."""

from __future__ import annotations

import pytest

from harness.client.connection import Connection
from harness.codec.messages import (
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
)
from harness.oracle.kept_specification import KeptSpecification
from harness.targets.reference import QUICK
from labs.awaiting import await_that
from tests.reference_broker.running import create_topic

GROUP, TOPIC = "g", "t"


@pytest.mark.rotates(8)
@pytest.mark.parametrize(("like", "state"), [("", "Empty"), ("3.9.2", "Dead")])
def test_group_without_offsets_outlives_restart_since_4_0(like: str, state: str) -> None:
    with KeptSpecification(like, QUICK) as kept:
        create_topic(kept.address, TOPIC)
        with Connection(kept.address) as connection:
            connection.ask(FindCoordinatorRequest(key=GROUP), 2)
            await_that(lambda: _commits(connection), "the coordinator stores offsets")
            _delete_offset(connection)
        kept.stop()
        kept.start()
        with Connection(kept.address) as connection:
            assert _state(connection) == state


def _commits(connection: Connection) -> bool:
    request = OffsetCommitRequest
    part = request.OffsetCommitRequestPartition(committed_offset=5)
    topic = request.OffsetCommitRequestTopic(name=TOPIC, partitions=[part])
    answer = connection.ask(request(group_id=GROUP, topics=[topic]), 5)
    return not answer.topics[0].partitions[0].error_code


def _delete_offset(connection: Connection) -> None:
    request = OffsetDeleteRequest
    part = request.OffsetDeleteRequestPartition(partition_index=0)
    topic = request.OffsetDeleteRequestTopic(name=TOPIC, partitions=[part])
    assert not connection.ask(request(group_id=GROUP, topics=[topic]), 0).error_code


def _state(connection: Connection) -> str:
    (group,) = connection.ask(DescribeGroupsRequest(groups=[GROUP]), 2).groups
    return group.group_state
