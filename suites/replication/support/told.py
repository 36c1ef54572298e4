"""Brokers and a topic as one broker returns them, at one version of Metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.client.cluster import Cluster
from harness.client.connection import Address
from harness.client.only import only
from harness.client.partition_view import PartitionView
from harness.client.requests import Topic

Shown = dict[int, tuple[int, frozenset[int], frozenset[int]]]
"""Leader, replicas (META-012 judges their order) and ISR of each partition."""


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """``brokers``: addresses by id; ``partitions``: views by index."""

    brokers: dict[int, Address]
    partitions: dict[int, PartitionView]

    @classmethod
    def expected(cls, assignment: Sequence[Sequence[int]]) -> ReportedValue:
        """Return partitions with this assignment: all replicas in sync, the first of each leads."""
        views = [PartitionView(nodes[0], tuple(nodes), tuple(nodes)) for nodes in assignment]
        return cls({}, dict(enumerate(views)))

    @property
    def shown(self) -> Shown:
        """Return the values that tests compare."""
        return {
            index: (view.leader, frozenset(view.replicas), frozenset(view.isr))
            for index, view in self.partitions.items()
        }


def told_by(cluster: Cluster, node: int, topic: Topic, version: int) -> ReportedValue:
    """Read strictly, as what is judged."""
    answer = cluster.at(node).metadata([topic.name], version)
    partitions = only(answer.topics, "topic").partitions
    return ReportedValue(
        {each.node_id: (each.host, each.port) for each in answer.brokers},
        {each.partition_index: PartitionView.of(each) for each in partitions},
    )
