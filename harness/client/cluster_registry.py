"""What ZooKeeper knows of a cluster, for whoever may not import who asks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class ClusterRegistry(Protocol):
    """Where a cluster keeps its state outside of its brokers; a cluster with KRaft has none."""

    def controller(self) -> int:
        """The broker that is the controller, -1 while none is.

        Before 0.10.0 no broker tells.
        """

    def make_assigned(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """A new topic with these replicas of each partition, perhaps not yet served.

        Raises PreparationFailed, ApiNotAdvertised as TopicMaker.make.
        """

    def replicas(self, name: str, partition: int) -> tuple[int, ...]:
        """The assignment, the preferred leader first; empty where there is no partition.

        Before 1.0 Metadata tells it in any order.
        """

    def isr(self, name: str, partition: int) -> tuple[int, ...]:
        """The replicas in sync as the leader has written them; empty where there is no partition.

        Metadata follows it late before 3.9, and in 0.8 never (KAFKA-1367).
        """
