"""The addresses and names with which a broker joins a cluster; the target supplies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class KraftEndpoint:
    """A cluster with a controller that serves BrokerRegistration and BrokerHeartbeat (KIP-631).

    Attributes:
        controller: the address at which its controller listens for brokers.
        cluster_id: as its brokers name it.
        listener: ``inter.broker.listener.name``, under which a broker must be reachable.
        client_listener: the one for clients, where that is another: they see only brokers that
            have it. Empty where there is one for all.
    """

    controller: Address
    cluster_id: str
    listener: str
    client_listener: str = ""

    @property
    def listeners(self) -> tuple[str, ...]:
        """The names of the listeners that a broker must have."""
        return tuple(filter(None, (self.listener, self.client_listener)))


@dataclass(frozen=True, slots=True)
class ZooKeeperEndpoint:
    """A cluster with its brokers' registrations in the ZooKeeper at this address."""

    zookeeper: Address


PeerEndpoint: TypeAlias = KraftEndpoint | ZooKeeperEndpoint
