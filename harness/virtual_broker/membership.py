"""A virtual broker's membership of a cluster, with and without a ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.virtual_broker.peer_endpoint import Address

NO_BROKER_EPOCH = -1


@dataclass(frozen=True, slots=True)
class PartitionState:
    """A partition's state in the cluster; epochs are -1 where the cluster reports none.

    ``leader`` is -1 while there is none; ``isr`` is sorted, as its order means nothing.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]


class Membership(Protocol):
    """One virtual broker within the cluster."""

    broker_id: int

    @property
    def broker_epoch(self) -> int:
        """The epoch of the current registration; -1 with a ZooKeeper, where replicas send none."""

    def leave(self) -> None:
        """Drop out of the cluster immediately: out of all ISRs, leading nothing. Twice is fine."""

    def come_back(self) -> None:
        """Come back to life as the same broker."""

    def shut_down(self) -> None:
        """Shut down like a stopped broker, with the permission of a KRaft controller.

        Raises BrokerMisbehaved.
        """

    def move(self, listens_at: Address) -> None:
        """Die and come back as another process with the same id, at this address.

        It waits until the session of the one before has ended. Raises BrokerMisbehaved.
        """

    def close(self) -> None:
        """Leave for good, without waiting and without an error; connections are closed."""


class VirtualWorld(Protocol):
    """The cluster as its controller or ZooKeeper shows it."""

    def join(self, broker_id: int, listens_at: Address, rack: str | None = None) -> Membership:
        """Return a new broker, alive when this returns.

        Raises PreparationFailed: it is refused; other BrokerMisbehaved.
        """

    def create_topic(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """Create a topic with these replicas of each partition, the preferred leader first."""

    def state(self, name: str, partition: int) -> PartitionState:
        """Return the current state of a partition; a leader of -1 while nothing is known of it."""

    def close(self) -> None:
        """Close the connections to the cluster; callers close the members that they joined."""
