"""The configuration of a Kafka node (broker, controller or both) of any release, as text."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base.address import Address
from harness.targets.kafka.eras import Fact, Listeners, Mode, knows, listeners_of
from harness.targets.kafka.release import line_of

SMALL_NODE = {
    "num.partitions": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "1",
    "background.threads": "1",
    # The default of 128 MiB does not fit into the small heap.
    "log.cleaner.dedupe.buffer.size": "2097152",
    # A broker that was killed can register again only after this time (defaults: 18 s and 9 s).
    "zookeeper.session.timeout.ms": "6000",
    "broker.session.timeout.ms": "6000",
    # By default as short as the session, too short for a busy machine.
    "zookeeper.connection.timeout.ms": "30000",
}
"""Kafka's defaults, except what makes a node with a small heap possible and quick."""

QUICK_CLUSTER = {
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.wait.max.ms": "100",
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "zookeeper.session.timeout.ms": "1500",
    # A leader moves when a test makes it move, and at no other time.
    "auto.leader.rebalance.enable": "false",
}
"""For clusters: a dead or slow replica is noticed in seconds instead of half a minute."""

QUICK_RETURN = {
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    "zookeeper.session.timeout.ms": "2000",
}
"""For a broker that is killed and started again: it can register when its session has ended."""

_SESSION = "zookeeper.session.timeout.ms"
INTER_BROKER_LISTENER = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "inter.broker.protocol.version"

REPLICATION = 3
MIN_IN_SYNC = 2
PROTOCOL = "PLAINTEXT"
PROTOCOLS = (PROTOCOL, "SSL", "SASL_PLAINTEXT", "SASL_SSL")
INTERNAL, CLIENT, CONTROLLER = "INTERNAL", "CLIENT", "CONTROLLER"


@dataclass(frozen=True)
class Quorum:
    """The coordinators of the brokers: the controllers, by their ids, or a ZooKeeper.

    Both while the metadata move from one to the other (KIP-866).
    """

    voters: Mapping[int, Address] = field(default_factory=dict)
    zookeeper: Address | None = None


@dataclass(frozen=True)
class NodeConfig:
    """One node, for :func:`server_properties`.

    ``client``: the address for clients, None for a node that is no broker. ``internal``: a listener
    for the other brokers, where the release has named listeners; None: they use ``client``.
    ``brokers``: the number of brokers. ``settings`` by Kafka's names override everything.

    ``client``, ``internal`` and the quorum's addresses are those that others receive; ``listens``
    contains the address where the node listens instead, if one of them leads to a proxy. ``hosts``:
    all names that its process can resolve, with their addresses; empty: those of the machine.
    ``formatted_by``: the release that formats its log directories (KRaft); empty: its own.
    """

    release: str
    mode: Mode
    node_id: int
    quorum: Quorum
    log_dir: Path
    client: Address | None
    internal: Address | None = None
    rack: str | None = None
    brokers: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)
    listens: Mapping[Address, Address] = field(default_factory=dict)
    hosts: Mapping[str, str] = field(default_factory=dict)
    formatted_by: str = ""

    @property
    def as_formatted(self) -> NodeConfig:
        """The node as the release that formats its log directories."""
        return replace(self, release=self.formatted_by or self.release)

    def listening(self, told: Address) -> Address:
        """Return the address where it listens for those that receive this address."""
        return self.listens.get(told, told)

    @property
    def migrates(self) -> bool:
        """True for a node in migration mode: it knows the controllers and the ZooKeeper."""
        return bool(self.quorum.voters) and self.quorum.zookeeper is not None

    @property
    def is_controller(self) -> bool:
        """True if this node is a controller (KRaft)."""
        return self.node_id in self.quorum.voters

    @property
    def inter_broker_listener(self) -> str:
        """The name of the listener for other brokers, where the release has named ones."""
        usual = INTERNAL if self.internal is not None else PROTOCOL
        return self.settings.get(INTER_BROKER_LISTENER, usual)

    @property
    def log_directories(self) -> list[Path]:
        """``log.dirs``: ``log_dir`` unless the settings name others, relative to its parent."""
        named = self.settings.get("log.dirs", self.settings.get("log.dir", str(self.log_dir)))
        return [self.log_dir.parent / word.strip() for word in named.split(",")]


def new_cluster_id() -> str:
    """A fresh cluster id: 22 characters of URL-safe base64, not starting with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def server_properties(node: NodeConfig) -> str:
    """server.properties of a node."""
    properties = {
        **(_kraft(node) if node.mode is Mode.KRAFT else _zookeeper(node)),
        **_LISTENING[listeners_of(node.release)](node),
        **SMALL_NODE,
        **_replication(node.brokers),
        **(QUICK_CLUSTER if node.brokers > 1 else {}),
    }
    if not knows(node.release, Fact.OUTLIVES_SESSIONS):
        properties[_SESSION] = SMALL_NODE[_SESSION]  # a pause must not end it
    if node.rack is not None and node.client is not None:
        properties["broker.rack"] = node.rack
    if knows(node.release, Fact.DELETION_ENDS) and not knows(node.release, Fact.TOPIC_DELETION):
        properties["delete.topic.enable"] = "true"
    properties.update(node.settings)
    properties["log.dirs"] = ",".join(map(str, node.log_directories))
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in properties.items())


def _replication(brokers: int) -> dict[str, str]:
    """Replicate topics ``REPLICATION`` times, or once for each broker if there are fewer."""
    replicas = str(min(REPLICATION, brokers))
    in_sync = str(MIN_IN_SYNC if brokers >= REPLICATION else 1)
    settings = {
        "offsets.topic.replication.factor": replicas,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
    }
    if brokers > 1:
        settings |= {
            "default.replication.factor": replicas,
            "min.insync.replicas": in_sync,
            # Each coordinates some groups and transactions.
            "offsets.topic.num.partitions": str(brokers),
            "transaction.state.log.num.partitions": str(brokers),
        }
    return settings


def _kraft(node: NodeConfig) -> dict[str, str]:
    roles = ["broker"] * (node.client is not None) + ["controller"] * node.is_controller
    settings = {
        "process.roles": ",".join(roles),
        "node.id": str(node.node_id),
        **_quorum(node.quorum),
    }
    if node.migrates:
        settings |= _migration(node.quorum)
        if node.brokers > 1:  # the controller sends requests to brokers with a ZooKeeper
            settings[INTER_BROKER_LISTENER] = INTERNAL
    return settings


def _zookeeper(node: NodeConfig) -> dict[str, str]:
    settings = {"broker.id": str(node.node_id), "zookeeper.connect": str(node.quorum.zookeeper)}
    if node.migrates:
        settings |= {**_quorum(node.quorum), **_migration(node.quorum)}
        settings[INTER_BROKER_PROTOCOL] = line_of(node.release)
    return settings


def _quorum(quorum: Quorum) -> dict[str, str]:
    return {
        "controller.quorum.voters": ",".join(f"{node}@{at}" for node, at in quorum.voters.items()),
        "controller.listener.names": CONTROLLER,
    }


def _migration(quorum: Quorum) -> dict[str, str]:
    return {
        "zookeeper.connect": str(quorum.zookeeper),
        "zookeeper.metadata.migration.enable": "true",
    }


# -- listeners -----------------------------------------------------------------------------------


def _client(node: NodeConfig) -> Address:
    assert node.client is not None, "only KRaft has nodes that are no broker"
    return node.client


def _port(node: NodeConfig) -> dict[str, str]:
    """Bind the advertised address: in its process the name can lead to another address."""
    address = _client(node)
    return {"host.name": address.host, "port": str(address.port)}


def _advertised_port(node: NodeConfig) -> dict[str, str]:
    told = _client(node)
    listening = node.listening(told)
    return {
        "host.name": listening.host,
        "port": str(listening.port),
        "advertised.host.name": told.host,
        "advertised.port": str(told.port),
    }


def _by_protocol(node: NodeConfig) -> dict[str, str]:
    told = _client(node)
    return {
        "listeners": f"{PROTOCOL}://{node.listening(told)}",
        "advertised.listeners": f"{PROTOCOL}://{told}",
    }


def _named(node: NodeConfig) -> dict[str, str]:
    """For brokers one listener, or one each for clients and brokers; one for a controller."""
    names = {PROTOCOL: node.client}
    if node.internal is not None:
        names = {INTERNAL: node.internal, CLIENT: node.client}
    told = {name: address for name, address in names.items() if address is not None}
    advertised = [f"{name}://{address}" for name, address in told.items()]
    listeners = [f"{name}://{node.listening(address)}" for name, address in told.items()]
    if node.is_controller:
        quorum = node.quorum.voters[node.node_id]
        listeners.append(f"{CONTROLLER}://{node.listening(quorum)}")
        if quorum in node.listens and knows(node.release, Fact.CONTROLLER_ADVERTISES):
            advertised.append(f"{CONTROLLER}://{quorum}")
    settings = {"listeners": ",".join(listeners)}
    own = [name for name in (*names, CONTROLLER) if name not in PROTOCOLS]
    if node.migrates and node.brokers > 1:
        own = [INTERNAL, CLIENT, CONTROLLER]
    if node.internal is not None or node.mode is Mode.KRAFT or node.migrates:
        known = {name: name for name in PROTOCOLS} | dict.fromkeys(own, PROTOCOL)
        mapped = ",".join(f"{name}:{protocol}" for name, protocol in known.items())
        settings["listener.security.protocol.map"] = mapped
    if advertised:
        settings["advertised.listeners"] = ",".join(advertised)
    if node.internal is not None:
        settings[INTER_BROKER_LISTENER] = INTERNAL
    return settings


_LISTENING: dict[Listeners, Callable[[NodeConfig], dict[str, str]]] = {
    Listeners.PORT: _port,
    Listeners.ADVERTISED_PORT: _advertised_port,
    Listeners.BY_PROTOCOL: _by_protocol,
    Listeners.NAMED: _named,
}


def _escape(text: str) -> str:
    r"""A word of a Java properties file: backslash and newline would end it early."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")
