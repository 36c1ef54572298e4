"""CreateTopics and Metadata for topics with a manual assignment of replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest
from harness.virtual_broker.membership import PartitionState

UNKNOWN = PartitionState(-1, -1, ())
_Topic = CreateTopicsRequest.CreatableTopic


def create_assigned(
    broker: BrokerUnderTest,
    name: str,
    assignment: Sequence[Sequence[int]],
    configs: Mapping[str, str],
) -> None:
    """Create a topic with these replicas by CreateTopics.

    Raises PreparationFailed with the code of the response, ApiNotAdvertised before 0.10.1.
    """
    entry = _Topic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreateTopicsRequest.CreatableReplicaAssignment(
                partition_index=index, broker_ids=list(replicas)
            )
            for index, replicas in enumerate(assignment)
        ],
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=key, value=value)
            for key, value in configs.items()
        ],
    )
    timeout_ms = int(broker.scaled_ms(DEFAULT_TIMEOUT_MS))
    answer = broker.ask(CreateTopicsRequest(topics=[entry], timeout_ms=timeout_ms))
    code = only(answer.topics, "topic").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"CreateTopics {name}: {ErrorCode.describe(code)}", code)


def state_shown(broker: BrokerUnderTest, name: str, partition: int) -> PartitionState:
    """Return a partition's state by Metadata; with a ZooKeeper up to 1.1 its ISR is out of date."""
    topic = only(broker.metadata([name]).topics, "topic")
    for found in topic.partitions:
        if found.partition_index == partition:
            isr = tuple(sorted(found.isr_nodes))
            return PartitionState(found.leader_id, found.leader_epoch, isr)
    return UNKNOWN
