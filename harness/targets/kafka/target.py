"""Apache Kafka of any pinned release as a target: brokers, with ZooKeeper or KRaft."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.address import Address
from harness.targets.artifacts import fetch_release
from harness.targets.errors import MissingCapability
from harness.targets.kafka.broker_config import QUICK_RETURN
from harness.targets.kafka.cluster import KafkaCluster, Programs
from harness.targets.kafka.eras import (
    Fact,
    Mode,
    choose_mode,
    knows,
    listeners_of,
    modes_of,
    reads_metadata_log,
)
from harness.targets.kafka.jvm import (
    HEAP,
    QUICK,
    Jvm,
    checked_heap,
    checked_tuning,
    java_for,
)
from harness.targets.kafka.node import KafkaNode
from harness.targets.kafka.plan import CONTROLLER_ID, KafkaPlan
from harness.targets.kafka.rolling_upgrade import RollingUpgrade, usually_upgraded
from harness.targets.kafka.zookeeper import zookeeper_jvm
from harness.targets.older import older_than
from harness.targets.pinned_file import Progress
from harness.targets.ports import HOST, free_ports
from harness.targets.start_again import until_started
from harness.targets.target import (
    BROKER_CONFIG,
    CREATE_TOPICS,
    JOIN_AS_BROKER,
    KILL_NODE,
    LINKS,
    LOG_DIRECTORY,
    LOGS,
    OWN_BROKER,
    PAUSE_NODE,
    POWER_LOSS,
    RESTART_NODE,
    STOP_NODE,
    UPGRADE,
    Target,
)

if TYPE_CHECKING:
    from harness.proxies.event import Listener


class KafkaTarget(Target):
    """A released Apache Kafka, all of it on 127.0.0.1.

    ``mode`` is "kraft" or "zk" (with a ZooKeeper process of its own); by default "kraft" from 3.3
    on, where it is declared fit for production, else "zk". ``nodes``: how many brokers,
    ``controllers``: how many beside them, see :class:`harness.targets.kafka.plan.KafkaPlan`.

    Kafka's own defaults hold (topics are created automatically, say) except for those of
    ``SMALL_NODE`` and, with several brokers, ``QUICK_CLUSTER`` in
    :mod:`harness.targets.kafka.broker_config`, and that topics can be deleted from 0.8.2 on
    (``delete.topic.enable``), so that tests can clean up; ``settings`` by Kafka's names win.
    All data is in a temporary folder and goes with the target. A node that cannot read its own
    metadata log (KRaft of 2.8.2) is never started a second time: it lacks RESTART_NODE, POWER_LOSS
    and LINKS; a cluster of several controllers lacks LINKS too. With an ``upgrade`` private brokers
    are clusters too: one broker alone is of one release.
    """

    implementation = "Apache Kafka"
    capabilities = frozenset(
        {
            CREATE_TOPICS,
            OWN_BROKER,
            BROKER_CONFIG,
            JOIN_AS_BROKER,
            STOP_NODE,
            KILL_NODE,
            PAUSE_NODE,
            RESTART_NODE,
            LOG_DIRECTORY,
            LOGS,
            LINKS,
            POWER_LOSS,
            UPGRADE,
        }
    )

    def __init__(
        self,
        release: str,
        *,
        mode: str | None = None,
        nodes: int = 1,
        controllers: int = 1,
        heap: str = HEAP,
        jvm: str = QUICK,
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        progress: Progress | None = None,
        choose_ports: Callable[[int], list[int]] = free_ports,
        next_release: str | None = None,
        upgrade: RollingUpgrade | None = None,
    ) -> None:
        """``heap``: of each Kafka process, as in java's -Xmx. ``jvm``: how Java is tuned, quick to
        start or as Kafka's own scripts do it. ``progress`` is called for downloads.
        ``next_release``: what one broker is from its first :meth:`restart_node` on. ``upgrade``:
        some nodes run a newer release. The first stop takes some seconds, to leave a class
        archive for cheaper starts. Raises TargetError: no release, one without that mode, a bad
        heap or number of nodes, an upgrade that is impossible."""
        super().__init__(log_dir)
        self.release = release
        listeners_of(release)  # is it a release at all
        self.mode = choose_mode(release, mode)
        if not reads_metadata_log(release, self.mode):
            self.capabilities = self.capabilities - {RESTART_NODE, LINKS, POWER_LOSS}
        older = older_than(release)
        self._older = older if older and self.mode in modes_of(older) else None
        if self._older is None:
            self.capabilities = self.capabilities - {UPGRADE}
        self.heap, self.jvm = checked_heap(heap), checked_tuning(jvm)
        self.settings = dict(settings or {})
        self._upgrade = upgrade
        self._plan = self._planned(nodes, controllers)
        if controllers > 1:
            self.capabilities = self.capabilities - {LINKS}
        if upgrade is not None:
            self.newer = upgrade.newer
            self.capabilities = self.capabilities - {UPGRADE, JOIN_AS_BROKER}
            if listeners_of(release) is not listeners_of(self.newer):
                self.capabilities = self.capabilities - {LINKS}
        self.spec = self._spec()
        self._progress = progress
        self._next_release = next_release or release
        self._choose_ports = choose_ports
        self._cluster: KafkaCluster | None = None
        self._log_path: Path | None = None

    def _planned(self, brokers: int, controllers: int) -> KafkaPlan:
        return KafkaPlan(
            self.release, self.mode, brokers, self.settings, controllers, self._upgrade
        )

    def _spec(self) -> str:
        """The shortest string that means this target."""
        options = [f"kafka:{self.release}", *self._mode_options()]
        if self._upgrade is not None:
            options.append(f"with={self._upgrade.newer}")
        if self._plan.brokers != 1:
            options.append(f"nodes={self._plan.brokers}")
        if self._plan.controllers != 1:
            options.append(f"controllers={self._plan.controllers}")
        if self._upgrade and self._upgrade.nodes != usually_upgraded(self._plan.brokers):
            options.append("upgraded=" + "+".join(map(str, sorted(self._upgrade.nodes))))
        if self.heap != HEAP:
            options.append(f"heap={self.heap}")
        if self.jvm != QUICK:
            options.append(f"jvm={self.jvm}")
        options += [f"set.{name}={value}" for name, value in self.settings.items()]
        return ",".join(options)

    def _mode_options(self) -> list[str]:
        usual = choose_mode(self.release, None)
        return [] if self.mode is usual else [f"mode={self.mode.value}"]

    @property
    def log_path(self) -> Path | None:
        """The log of the first broker."""
        return self._log_path

    @property
    def data_dir(self) -> Path | None:
        """Everything that its processes keep on disk but logs; None when it is not started."""
        return self._cluster.scratch.path if self._cluster else None

    @property
    def pid(self) -> int | None:
        """Process id of the first broker, None when it is not started."""
        return self._node(self.nodes[0]).pid if self.nodes else None

    def is_alive(self) -> bool:
        """True if a broker runs, and only processes that we ended have ended."""
        if self._cluster is None or any(self._cluster.dead()):
            return False
        return any(broker.is_alive() for broker in self._cluster.brokers.values())

    def describe_failure(self) -> str | None:
        dead = next(self._cluster.dead(), None) if self._cluster else None
        return dead.ended() if dead else None

    # -- start and end -------------------------------------------------------------------------

    def start(self) -> list[Address]:
        if self.is_alive():
            return self.addresses
        self.stop()
        programs = self._programs(*self._plan.releases)
        until_started(self.spec, lambda: self._start_once(programs), self._end)
        return self.addresses

    def _programs(self, *releases: str) -> Programs:
        jars = {each: fetch_release(each, self._progress) for each in releases}
        java = java_for(self.spec)
        mode = "" if self.mode is Mode.KRAFT else "-zk"
        kafka = {
            each: Jvm(java, f"kafka-{each}{mode}", jars[each], self.heap, self.jvm)
            for each in releases
        }
        zookeeper = None if self.mode is Mode.KRAFT else zookeeper_jvm(java, self._progress)
        return Programs(kafka, zookeeper)

    def _start_once(self, programs: Programs) -> None:
        """One attempt. What it leaves undone when it raises is cleared away by ``_end``."""
        ports = self._choose_ports(self._plan.ports)
        addresses = [Address(HOST, port) for port in ports]
        self._before_start(addresses)
        self._cluster = cluster = self._new_cluster(programs)
        try:
            cluster.start(addresses)
        finally:
            first = next(iter(cluster.brokers.values()), None)
            self._log_path = first.log_path if first else None
        self._begin(cluster)

    def _new_cluster(self, programs: Programs) -> KafkaCluster:
        return KafkaCluster(
            self._plan,
            programs,
            self._log_folder(),
            keep_in=self.keep_in,
            node_folders=self.node_folders,
        )

    def _begin(self, cluster: KafkaCluster) -> None:
        """Show what has started."""
        self.addresses = list(cluster.addresses.values())
        self.nodes = list(cluster.addresses)
        self.controller_nodes = tuple(cluster.controllers)
        self.zookeeper = cluster.zookeeper.address if cluster.zookeeper else None
        self.peer_endpoint = cluster.peer_endpoint

    def _before_start(self, addresses: Sequence[Address]) -> None:
        """Prepare for the first process; ``addresses`` are those of the plan."""

    def stop(self) -> None:
        try:
            if self._cluster is not None:
                self._cluster.end_for_archives()
        finally:
            self._end()

    def _end(self) -> None:
        """Kill and clear away, also after a failed start."""
        if self._cluster is not None:
            self._cluster.end()
            self._cluster = None
        self.addresses = []
        self.nodes = []
        self.controller_nodes = ()
        self.zookeeper = None
        self.peer_endpoint = None

    # -- one node ------------------------------------------------------------------------------

    def _node(self, node: int) -> KafkaNode:
        if node not in self.controller_nodes:
            self.address_of(node)
        assert self._cluster is not None
        return self._cluster.nodes[node]

    def node_is_alive(self, node: int) -> bool:
        return self._node(node).is_alive()

    def stop_node(self, node: int) -> None:
        self._node(node).stop()

    def kill_node(self, node: int) -> None:
        self._node(node).kill()

    def pause_node(self, node: int) -> None:
        self._node(node).pause()

    def resume_node(self, node: int) -> None:
        self._node(node).resume()

    def restart_node(self, node: int) -> None:
        self.require(RESTART_NODE)
        asked = self._node(node)
        assert self._cluster is not None
        if self.release != self._next_release:
            asked.stop()
            self.release = self._next_release
            self._cluster.upgrade(self.release, self._programs(self.release))
        self._cluster.restart(asked)

    def upgrade_node(self, node: int, release: str, level: Mapping[str, str]) -> None:
        """Stop a node and start it with its files as another release, one step of an upgrade.

        ``level``: settings beside those of the target. The target keeps its name. Raises
        TargetError: it does not end; TargetStartError: it does not come back.
        """
        asked = self._node(node)
        assert self._cluster is not None
        asked.stop()
        settings = {**self.settings, **level}
        config = replace(asked.config, release=release, settings=settings, formatted_by="")
        asked.upgrade(config, self._programs(release).kafka)
        self._cluster.restart(asked)

    def log_directories(self, node: int) -> list[Path]:
        return self._node(node).config.log_directories

    def logs(self, node: int) -> str:
        return self._node(node).log_text()

    # -- another one ---------------------------------------------------------------------------

    def _another(self, settings: dict[str, str]) -> KafkaTarget:
        """A single broker, with a ZooKeeper of its own: this target may run in another process.

        Raises MissingCapability in the middle of an upgrade.
        """
        if self._upgrade is not None:
            raise MissingCapability(OWN_BROKER, self.spec)
        return self._another_cluster(settings, 1)

    def _another_kept(self, settings: dict[str, str]) -> Target:
        """As it is, but sooner back after it was killed.

        Raises MissingCapability for several log directories with KRaft before 3.7.
        """
        one_alone = self.mode is Mode.KRAFT and not knows(self.release, Fact.KRAFT_DIRECTORIES)
        if one_alone and "," in settings.get("log.dirs", ""):
            raise MissingCapability(BROKER_CONFIG, self.spec)
        return super()._another_kept({**QUICK_RETURN, **settings})

    def _another_older(self, settings: dict[str, str]) -> Target:
        assert self._older is not None, "it declares the capability"
        return KafkaTarget(
            self._older,
            next_release=self.release,
            mode=self.mode.value,
            heap=self.heap,
            jvm=self.jvm,
            settings={**self.settings, **QUICK_RETURN, **settings},
            log_dir=self._log_folder(),
        )

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> KafkaTarget:
        return KafkaTarget(
            self.release,
            mode=self.mode.value,
            nodes=nodes,
            controllers=self._plan.controllers if nodes > 1 else 1,
            heap=self.heap,
            jvm=self.jvm,
            settings={**self.settings, **settings},
            log_dir=self._log_folder(),
            upgrade=self._upgrade_of(nodes),
        )

    def _upgrade_of(self, brokers: int) -> RollingUpgrade | None:
        """The same upgrade in a cluster with another number of brokers."""
        if self._upgrade is None or brokers == self._plan.brokers:
            return self._upgrade
        controllers = {node for node in self._upgrade.nodes if node >= CONTROLLER_ID}
        return replace(self._upgrade, nodes=usually_upgraded(brokers) | controllers)

    def _another_linked(
        self, settings: dict[str, str], nodes: int, tell: Listener | None
    ) -> KafkaTarget:
        from harness.targets.linked import LinkedKafka  # the proxies, which few targets need

        return LinkedKafka(
            self.release,
            nodes=nodes,
            mode=self.mode.value,
            heap=self.heap,
            jvm=self.jvm,
            settings={**self.settings, **settings},
            log_dir=self._log_folder(),
            tell=tell,
            upgrade=self._upgrade_of(nodes),
        )
