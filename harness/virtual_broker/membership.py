"""What a virtual broker's place in a cluster can be asked, with and without a ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.virtual_broker.door import Address

NO_BROKER_EPOCH = -1


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What the cluster says of a partition; epochs are -1 where it does not tell.

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
        """Of the registration that counts; -1 with a ZooKeeper, where replicas tell none."""

    def leave(self) -> None:
        """Be dead for the cluster, at once: out of all ISRs, leading nothing. Twice is fine."""

    def come_back(self) -> None:
        """Be alive again, as the same broker."""

    def shut_down(self) -> None:
        """Leave as a broker does that is stopped, with leave to go where somebody gives it.

        Raises BrokerMisbehaved.
        """

    def move(self, listens_at: Address) -> None:
        """Die and be alive again as another process with the same id, at this address.

        It takes until the session of the one before has ended. Raises BrokerMisbehaved.
        """

    def close(self) -> None:
        """Leave for good, without waiting and without an error; connections are closed."""


class World(Protocol):
    """The cluster as those see it who coordinate it."""

    def join(self, broker_id: int, listens_at: Address, rack: str | None = None) -> Membership:
        """A new broker, alive when this returns.

        Raises PreparationFailed: it is refused; other BrokerMisbehaved.
        """

    def create_topic(
        self, name: str, assignment: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> None:
        """Ask for a topic with these replicas of each partition, the preferred leader first."""

    def state(self, name: str, partition: int) -> PartitionState:
        """The truth about a partition; a leader of -1 while nothing is known of it."""

    def close(self) -> None:
        """Close what was opened to see it; members are closed by who joined them."""
