"""The leader epoch of a partition in Metadata."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.client.requests import Topic


def told_leader_epoch(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> int:
    """Return the leader epoch. Raises PreparationFailed if Metadata does not show the partition."""
    shown = only(broker.metadata([topic.name]).topics, "topic")
    for one in shown.partitions:
        if one.partition_index == partition:
            return one.leader_epoch
    raise PreparationFailed(f"Metadata does not show {topic.name}-{partition}")
