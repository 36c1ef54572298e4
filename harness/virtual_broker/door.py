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
    """

    controller: Address
    cluster_id: str
    listener: str


@dataclass(frozen=True, slots=True)
class ZooKeeperDoor:
    """A cluster whose brokers meet in the ZooKeeper at this address."""

    zookeeper: Address


PeerDoor: TypeAlias = KraftDoor | ZooKeeperDoor
