"""The addresses of a cluster in which every connection goes through a proxy of its own.

Each process has a name resolution of its own, so one advertised name leads each broker to proxies
of its own. In the process of broker A, ``b`` is 127.1.A.1, where a proxy for every broker listens,
``ctl`` is 127.1.A.2 with the one to the controller, ``zk`` 127.1.A.3 with the one to ZooKeeper. A
proxy has the port of its upstream. All of 127.0.0.0/8 must be the machine's own, as it is on Linux.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.address import Address
from harness.targets.errors import TargetError
from harness.targets.kafka.broker_config import NodeConfig, Quorum
from harness.targets.kafka.eras import Listeners, Mode, listeners_of
from harness.targets.kafka.plan import CONTROLLER_ID, KafkaPlan, NodePlan
from harness.targets.ports import HOST

CLIENT, CONTROLLER, ZOOKEEPER = "client", "controller", "zookeeper"
BROKER_NAME, CONTROLLER_NAME, ZOOKEEPER_NAME = "b", "ctl", "zk"
LOCALHOST = "localhost"


@dataclass(frozen=True)
class PlannedLink:
    """A directed link: what ``source`` opens at ``listen`` leads to ``upstream``.

    The ends are broker ids, ``client``, ``controller`` and ``zookeeper``.
    """

    source: str
    destination: str
    listen: Address
    upstream: Address


@dataclass(frozen=True)
class BrokerListeners:
    """The addresses that lead to one broker, and those where it listens.

    ``client``: the address that clients receive; ``internal``: the one that brokers receive, None
    if it is the same. ``client_proxy``: the address behind ``client`` outside of the brokers'
    processes.
    """

    node_id: int
    client: Address
    client_proxy: Address
    client_listen: Address
    internal: Address | None = None
    internal_listen: Address | None = None

    @property
    def for_brokers(self) -> tuple[int, Address]:
        """The port of the proxies for brokers, and where those lead."""
        if self.internal is not None and self.internal_listen is not None:
            return self.internal.port, self.internal_listen
        return self.client.port, self.client_listen

    @property
    def is_at(self) -> dict[Address, Address]:
        """The addresses where it listens, by advertised address."""
        listens = {self.client: self.client_listen}
        if self.internal is not None and self.internal_listen is not None:
            listens[self.internal] = self.internal_listen
        return listens


def _named(node_id: int, at: Sequence[Address]) -> BrokerListeners:
    told, client, internal = at
    name = Address(BROKER_NAME, internal.port)
    return BrokerListeners(node_id, told, told, client, name, internal)


def _one_address(node_id: int, at: Sequence[Address]) -> BrokerListeners:
    """Advertise one name to clients and brokers: it leads each to proxies of its own."""
    told, listen = at
    return BrokerListeners(node_id, Address(LOCALHOST, told.port), told, listen)


def _bound_by_name(node_id: int, at: Sequence[Address]) -> BrokerListeners:
    """Bind the advertised name too: the broker resolves it to an address of its own."""
    (told,) = at
    listen = Address(_own(node_id, BROKER_NAME), told.port)
    return BrokerListeners(node_id, Address(LOCALHOST, told.port), told, listen)


_LISTENERS: dict[Listeners, tuple[int, Callable[[int, Sequence[Address]], BrokerListeners]]] = {
    Listeners.NAMED: (3, _named),
    Listeners.BY_PROTOCOL: (2, _one_address),
    Listeners.ADVERTISED_PORT: (2, _one_address),
    Listeners.PORT: (1, _bound_by_name),
}
"""By the listener settings of a release: the number of ports, and the function that uses them."""


def _own(node_id: int, name: str) -> str:
    """The address to which ``name`` leads in the process of a broker."""
    place = (BROKER_NAME, CONTROLLER_NAME, ZOOKEEPER_NAME).index(name)
    return f"127.1.{node_id}.{place + 1}"


@dataclass(frozen=True)
class LinkedPlan(KafkaPlan):
    """As its parent, all of it behind proxies; with KRaft the one controller is always separate."""

    def _check_controllers(self) -> None:
        """One name leads to the controller, and to one proxy in each broker."""
        if self.controllers != 1:
            raise TargetError(
                f"controllers={self.controllers}: links lead to one controller; leave it out, or "
                "the links"
            )

    @property
    def ports(self) -> int:
        """As many for every broker as its era needs, and one for the controller or ZooKeeper."""
        return self.brokers * _LISTENERS[listeners_of(self.release)][0] + 1

    @property
    def _has_controller(self) -> bool:
        return self.mode is Mode.KRAFT

    def nodes(self, folder: Path, addresses: Sequence[Address]) -> NodePlan:
        """Return the parent's plan, with advertised addresses that lead to proxies."""
        at = addresses[-1]
        separate = self._has_controller
        if separate:
            told = Quorum({CONTROLLER_ID: Address(CONTROLLER_NAME, at.port)})
        else:
            told = Quorum(zookeeper=Address(ZOOKEEPER_NAME, at.port))
        brokers = tuple(
            replace(
                self._node(folder, one.node_id, told, one.client, one.internal),
                listens=one.is_at,
                hosts=self._hosts(one.node_id),
            )
            for one in self._listeners(addresses)
        )
        controllers = (self._controller(folder, told, at),) if separate else ()
        return NodePlan(brokers, controllers, None if separate else at)

    def _controller(self, folder: Path, told: Quorum, at: Address) -> NodeConfig:
        """Return the controller; it opens connections to itself alone."""
        hosts = {CONTROLLER_NAME: at.host, LOCALHOST: HOST, socket.gethostname(): HOST}
        node = self._node(folder, CONTROLLER_ID, told)
        return replace(node, listens={told.voters[CONTROLLER_ID]: at}, hosts=hosts)

    def _hosts(self, node_id: int) -> dict[str, str]:
        names = (BROKER_NAME, CONTROLLER_NAME, ZOOKEEPER_NAME)
        hosts = {name: _own(node_id, name) for name in names}
        named = listeners_of(self.release) is Listeners.NAMED
        hosts[LOCALHOST] = HOST if named else hosts[BROKER_NAME]
        hosts.setdefault(socket.gethostname(), HOST)  # Java wants to know its own machine
        return hosts

    def _listeners(self, addresses: Sequence[Address]) -> list[BrokerListeners]:
        count, make = _LISTENERS[listeners_of(self.release)]
        return [
            make(number + 1, addresses[number * count : (number + 1) * count])
            for number in range(self.brokers)
        ]

    def links(self, addresses: Sequence[Address]) -> list[PlannedLink]:
        """Every link of the cluster with those addresses, that of a broker to itself included.

        A broker that coordinates the others with the help of ZooKeeper sends requests to itself.
        """
        every = self._listeners(addresses)
        links = [
            PlannedLink(CLIENT, str(to.node_id), to.client_proxy, to.client_listen) for to in every
        ]
        for source in every:
            links += self._from(source.node_id, every, addresses[-1])
        return links

    def _from(
        self, source: int, every: Sequence[BrokerListeners], at: Address
    ) -> list[PlannedLink]:
        links = []
        for to in every:
            port, upstream = to.for_brokers
            listen = Address(_own(source, BROKER_NAME), port)
            if listen != upstream:
                links.append(PlannedLink(str(source), str(to.node_id), listen, upstream))
        kraft = self._has_controller
        destination = CONTROLLER if kraft else ZOOKEEPER
        name = CONTROLLER_NAME if kraft else ZOOKEEPER_NAME
        links.append(
            PlannedLink(str(source), destination, Address(_own(source, name), at.port), at)
        )
        return links
