"""What must be known of a cluster to join it as a broker: plain values, from whoever started it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class KraftDoor:
    """A cluster whose controller speaks BrokerRegistration and BrokerHeartbeat (KIP-631).

    Attributes:
        controller: where its controller listens for brokers.
        cluster_id: as brokers of it name it.
        listener: ``inter.broker.listener.name``, under which a broker must be reachable.
        client_listener: the one for clients, where that is another; they are told of brokers
            that have it. Empty where there is one for all.
    """

    controller: Address
    cluster_id: str
    listener: str
    client_listener: str = ""

    @property
    def listeners(self) -> tuple[str, ...]:
        """All that a broker has to have."""
        return tuple(filter(None, (self.listener, self.client_listener)))


@dataclass(frozen=True, slots=True)
class ZooKeeperDoor:
    """A cluster whose brokers meet in the ZooKeeper at this address."""

    zookeeper: Address


PeerDoor: TypeAlias = KraftDoor | ZooKeeperDoor
