"""The interface of every target."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from harness.base.address import Address
from harness.base.operating_system import HAS_FORK
from harness.base.own_names import DEFAULT_PREFIX
from harness.power_loss.power_loss_disk import why_not
from harness.targets.errors import MissingCapability, TargetError, TargetStartError
from harness.targets.secured_cluster import SecuredWay
from harness.virtual_broker.peer_endpoint import PeerEndpoint

if TYPE_CHECKING:
    from harness.proxies.event import Listener
    from harness.proxies.links import Links
    from harness.proxies.proxy import Proxy

CREATE_TOPICS = "create_topics"
OWN_BROKER = "own_broker"
BROKER_CONFIG = "broker_config"
STOP_NODE = "stop_node"
KILL_NODE = "kill_node"
PAUSE_NODE = "pause_node"
RESTART_NODE = "restart_node"
DISCONNECT_NODE = "disconnect_node"
LOG_DIRECTORY = "log_directory"
LOGS = "logs"
JOIN_AS_BROKER = "join_as_broker"
LINKS = "links"
POWER_LOSS = "power_loss"
UPGRADE = "upgrade"

CAPABILITIES: dict[str, str] = {
    CREATE_TOPICS: "tests may create topics on it",
    OWN_BROKER: "a private broker can be started for one test",
    BROKER_CONFIG: "a private broker can be started with settings of its own",
    STOP_NODE: "one of its brokers can be stopped in good order",
    KILL_NODE: "one of its brokers can be killed without a warning",
    PAUSE_NODE: "one of its brokers can be frozen and thawed",
    RESTART_NODE: "a broker that has ended can be started again with its data and address",
    DISCONNECT_NODE: "one of its brokers can be cut off from the network and joined again",
    LOG_DIRECTORY: "the folders in which its brokers keep their logs of records can be read",
    LOGS: "what its brokers print can be read",
    JOIN_AS_BROKER: "the harness may join it as a broker",
    LINKS: "a private cluster can be started in which every directed link can be cut",
    POWER_LOSS: "the disks of a private broker's nodes can lose power",
    UPGRADE: "a private broker can be started as an older release, and again as what it is",
}
"""The names that a target may declare, with their meaning."""

KEPT = (LOG_DIRECTORY, RESTART_NODE, STOP_NODE, KILL_NODE)
"""The capabilities of a broker with data that outlives its process, see
:meth:`Target.start_another`."""
WITHOUT_SIGNALS = frozenset() if HAS_FORK else frozenset({STOP_NODE, PAUSE_NODE})
"""The capabilities that no local process has on this system: Windows can only end it."""


SAFETY_CLASSES = ("read", "own-names", "destructive")
"""Classes of requests, by the harm that they can do: a request only asks; it changes only what it
names, and ours name only what is ours; it acts on a node or on the cluster."""

TIME_SCALE_LIMIT = 20.0
"""Keeps the deadlines of a broken target finite."""


class Target(ABC):
    """A broker (or a cluster) to be judged.

    As a context manager it is started at the entrance and stopped at the exit. ``start`` may be
    called again after ``stop``; what was stored is then gone.

    A cluster has several nodes, named by the broker ids in ``nodes``. What is done to one of them
    (``kill_node`` and its neighbours) needs the capability of the same name, and raises
    MissingCapability without it, TargetError for a node that there is not, TargetStartError for
    one that does not come back. It is done to each of ``controller_nodes`` in the same way.
    """

    spec: str
    """The string that names this target on a command line."""
    implementation: str
    """The implementation of the broker, for the report."""
    release: str
    """Its version; "unknown" for a broker that we did not start."""
    capabilities: frozenset[str]
    """The actions that it allows a test: keys of :data:`CAPABILITIES`."""
    safety: frozenset[str] = frozenset(SAFETY_CLASSES)
    """The requests that may be sent to it, of :data:`SAFETY_CLASSES`."""
    like: str = ""
    """The release of Apache Kafka that it emulates and is judged by; empty: none."""
    newer: str = ""
    """The release of those of its nodes that run a newer one than ``release``, by which it is
    judged too; empty: none does."""
    is_light: bool = False
    """Its brokers take so little memory that several private clusters of it run side by side."""
    name_prefix: str = DEFAULT_PREFIX
    """Begins the name of everything that is made on it."""
    reached: Mapping[Address, Address] = MappingProxyType({})
    """The address at which this machine reaches a broker, by the address that the cluster lists,
    where the two differ."""
    round_trips: int = 20
    """The number of requests that measure how quickly it answers."""
    time_scale_limit: float = TIME_SCALE_LIMIT
    """The largest factor for the waits of its tests, however slowly it answers."""
    secured: SecuredWay | None = None
    """The way into its listeners, while it runs; None: they are PLAINTEXT."""

    def __init__(self, log_dir: Path | None = None) -> None:
        """``log_dir`` gets the logs; default: a new folder in the system's temporary one."""
        if why_not():
            self.capabilities = self.capabilities - {POWER_LOSS}
        self.log_dir = log_dir
        self.keep_in: Path | None = None
        """The parent of data folders that stay; None: they are temporary and go with the stop."""
        self.node_folders: dict[int, Path] = {}
        """Folders, for example on separate disks, that contain all data of these nodes; the data of
        other nodes is in a folder of the target's. The caller that names them removes them."""
        self.addresses: list[Address] = []
        self.nodes: list[int] = []
        """Broker ids, in the order of ``addresses``; empty when they are not known."""
        self.controller_nodes: tuple[int, ...] = ()
        """The nodes that are controllers and no brokers, while it runs; empty: there is none."""
        self.zookeeper: Address | None = None
        """The address of a ZooKeeper of ours that coordinates the brokers; None without one."""
        self.peer_endpoint: PeerEndpoint | None = None
        """The way to join it as a broker; None without ``join_as_broker``, while it is stopped, or
        if the active one of several controllers is unknown."""

    @abstractmethod
    def start(self) -> list[Address]:
        """Start it, wait until it answers, and return its addresses (the same when it runs).

        Raises TargetError: cannot be started, or does not answer.
        """

    @abstractmethod
    def stop(self) -> None:
        """End it: afterwards no process, port or data folder is left. Twice is fine."""

    @abstractmethod
    def is_alive(self) -> bool:
        """True if it still runs (a process of ours), or still answers (any other)."""

    @property
    @abstractmethod
    def log_path(self) -> Path | None:
        """The log of the last start, which stays after the stop; None without a log."""

    @property
    def links(self) -> Links[Proxy]:
        """Its directed links, each of which can be cut; see :meth:`start_another`.

        Raises MissingCapability: it was started without; TargetError: it does not run.
        """
        raise MissingCapability(LINKS, self.spec)

    # -- one node ------------------------------------------------------------------------------

    def address_of(self, node: int) -> Address:
        """The address of this broker for clients. Raises TargetError: there is no such node."""
        if node not in self.nodes:
            there = ", ".join(map(str, self.nodes)) or "none are known"
            raise TargetError(f"{self.spec} has no broker {node}; its brokers: {there}")
        return self.addresses[self.nodes.index(node)]

    def node_is_alive(self, node: int) -> bool:
        """True if this broker still runs; a paused one does."""
        self.address_of(node)
        return self.is_alive()

    def stop_node(self, node: int) -> None:
        """End this broker as an operator would (a controlled shutdown); await its end.

        Nothing is done to one that has ended.
        """
        self._refuse(STOP_NODE, node)

    def kill_node(self, node: int) -> None:
        """End this broker with SIGKILL, without notice; await its end. Twice is fine."""
        self._refuse(KILL_NODE, node)

    def pause_node(self, node: int) -> None:
        """Freeze this broker: its connections stay, nothing is answered. Twice is fine.

        Raises TargetError for one that has ended.
        """
        self._refuse(PAUSE_NODE, node)

    def resume_node(self, node: int) -> None:
        """Thaw what :meth:`pause_node` froze. Twice is fine."""
        self._refuse(PAUSE_NODE, node)

    def restart_node(self, node: int) -> None:
        """Start it again with its address and data (first ended if it runs); await its answer."""
        self._refuse(RESTART_NODE, node)

    def disconnect_node(self, node: int) -> None:
        """Cut this broker off from every network, open connections too."""
        self._refuse(DISCONNECT_NODE, node)

    def reconnect_node(self, node: int) -> None:
        """Join again what :meth:`disconnect_node` cut off."""
        self._refuse(DISCONNECT_NODE, node)

    def log_directories(self, node: int) -> list[Path]:
        """The folders (``log.dirs``) in which this broker keeps partitions, readable by us."""
        self._refuse(LOG_DIRECTORY, node)
        return []

    def logs(self, node: int) -> str:
        """Return the recent output of this broker (the end of it, at most 64 KiB)."""
        self._refuse(LOGS, node)
        return ""

    def _refuse(self, capability: str, node: int) -> None:
        """Raise MissingCapability, TargetError (no such node) or NotImplementedError."""
        self.require(capability)
        self.address_of(node)
        raise NotImplementedError(f"{type(self).__name__} declares {capability} and lacks it")

    # -- another one ---------------------------------------------------------------------------

    def start_another(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        nodes: int = 1,
        links: bool = False,
        tell: Listener | None = None,
        kept: bool = False,
        older: bool = False,
        node_folders: Mapping[int, Path] | None = None,
    ) -> Target:
        """Start a private broker like this one, with broker settings by Kafka's names.

        ``nodes``: the number of brokers, for a private cluster. ``links``: with :attr:`links`;
        their thread calls ``tell`` with each fault. ``kept``: a single broker with data that
        outlives its process, with the capabilities :data:`KEPT`, also if this one lacks some.
        ``older``: a kept broker that begins as an older release, and has its own release from its
        next start on. ``node_folders``: as the attribute. The broker runs on return; the caller
        stops it (``with target.start_another() as mine: ...``). Raises MissingCapability without
        ``own_broker`` or, with settings, ``broker_config``, or ``links``, or if there are no
        clusters, or no such broker.
        """
        self.require(OWN_BROKER)
        if settings:
            self.require(BROKER_CONFIG)
        own = dict(settings or {})
        if links:
            self.require(LINKS)
            another = self._another_linked(own, nodes, tell)
        elif older:
            self.require(UPGRADE)
            another = self._another_older(own)
        elif kept:
            another = self._another_kept(own)
        else:
            another = self._another(own) if nodes == 1 else self._another_cluster(own, nodes)
        another.keep_in = self.keep_in
        if node_folders:
            another.require(POWER_LOSS)
            another.node_folders = dict(node_folders)
        another.start()
        return another

    def _another(self, settings: dict[str, str]) -> Target:  # noqa: ARG002
        """A second target of this kind, not yet started."""
        raise MissingCapability(OWN_BROKER, self.spec)

    def _another_kept(self, settings: dict[str, str]) -> Target:
        """The same with data that outlives its process, not yet started.

        What another one of a kind with :data:`KEPT` is anyway; others say how, or cannot.
        """
        for capability in KEPT:
            self.require(capability)
        return self._another(settings)

    def _another_older(self, settings: dict[str, str]) -> Target:  # noqa: ARG002
        """One with data that outlives its process, of an older release until it is restarted."""
        raise MissingCapability(UPGRADE, self.spec)

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> Target:  # noqa: ARG002
        """A second target of this kind with so many brokers, not yet started."""
        raise MissingCapability(OWN_BROKER, self.spec)

    def _another_linked(
        self,
        settings: dict[str, str],  # noqa: ARG002
        nodes: int,  # noqa: ARG002
        tell: Listener | None,  # noqa: ARG002
    ) -> Target:
        """The same behind proxies, not yet started."""
        raise MissingCapability(LINKS, self.spec)

    def require(self, capability: str) -> None:
        """Raises MissingCapability unless this target has the capability."""
        if capability not in self.capabilities:
            raise MissingCapability(capability, self.spec)

    def describe_failure(self) -> str | None:
        """For a target that died: the end of its log; None when nothing is known."""
        return None

    def _log_folder(self) -> Path:
        if self.log_dir is None:
            self.log_dir = Path(tempfile.mkdtemp(prefix="kafka-conformance-logs-"))
        return self.log_dir

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        if not self.addresses:
            raise TargetStartError(f"{self.spec} started without an address")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
