"""The state of a cluster in ZooKeeper, for modules that may not import the client of ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class ClusterRegistry(Protocol):
    """The state that a cluster keeps outside of its brokers; a cluster with KRaft has none."""

    def controller(self) -> int:
        """Return the broker that is the controller, -1 while there is none.

        Before 0.10.0 no broker reports it.
        """

    def make_assigned(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """Create a topic with these replicas of each partition; perhaps it is not yet served.

        Raises PreparationFailed, ApiNotAdvertised as TopicMaker.make.
        """

    def replicas(self, name: str, partition: int) -> tuple[int, ...]:
        """Return the assignment, the preferred leader first; empty where there is no partition.

        Before 1.0 Metadata contains it in any order.
        """

    def isr(self, name: str, partition: int) -> tuple[int, ...]:
        """Return the replicas in sync as the leader wrote them; empty where there is no partition.

        Metadata follows it late before 3.9, and in 0.8 never (KAFKA-1367).
        """
