"""The processes of one start of Kafka: ZooKeeper or controllers, the brokers, their folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harness.base.address import Address
from harness.targets.asking import ask_api_versions
from harness.targets.kafka.broker_config import CLIENT, NodeConfig, new_cluster_id
from harness.targets.kafka.eras import Mode
from harness.targets.kafka.jvm import Jvm
from harness.targets.kafka.node import KafkaNode
from harness.targets.kafka.plan import KafkaPlan
from harness.targets.kafka.readiness import questions_for
from harness.targets.kafka.server import JavaServer
from harness.targets.kafka.zookeeper import ZooKeeper
from harness.targets.process import reserve_log
from harness.targets.ready import Question, await_answers
from harness.targets.scratch import ScratchFolder
from harness.targets.start_again import until_started
from harness.virtual_broker.peer_endpoint import KraftEndpoint, PeerEndpoint, ZooKeeperEndpoint

START_TIMEOUT_MS = 180_000  # a start that cannot succeed ends sooner: its process does


@dataclass(frozen=True)
class Programs:
    """The programs of the processes: Kafka by release, and ZooKeeper where it is needed."""

    kafka: Mapping[str, Jvm]
    zookeeper: Jvm | None


class KafkaCluster:
    """The processes of one start; :meth:`end` clears away whatever there is of it."""

    def __init__(
        self,
        plan: KafkaPlan,
        programs: Programs,
        log_folder: Path,
        *,
        keep_in: Path | None = None,
        node_folders: Mapping[int, Path] | None = None,
    ) -> None:
        """``keep_in``: as in :class:`harness.targets.scratch.ScratchFolder`. ``node_folders``: of
        nodes that keep nothing in there."""
        self.plan = plan
        self.zookeeper: ZooKeeper | None = None
        self.controllers: dict[int, KafkaNode] = {}
        """Those that are no brokers."""
        self.brokers: dict[int, KafkaNode] = {}
        self._programs = programs
        self._log_folder = log_folder
        self._node_folders = dict(node_folders or {})
        self._cluster_id = new_cluster_id() if plan.mode is Mode.KRAFT else None
        self.scratch = ScratchFolder(keep_in)

    @property
    def name(self) -> str:
        """The name of its logs but those of nodes of another release."""
        return f"kafka-{self.plan.release}"

    def servers(self) -> list[JavaServer]:
        """All of them, in the order in which they are started."""
        first = [] if self.zookeeper is None else [self.zookeeper]
        return [*first, *self.nodes.values()]

    @property
    def nodes(self) -> dict[int, KafkaNode]:
        """Every node of Kafka, by its id."""
        return {**self.controllers, **self.brokers}

    def dead(self) -> Iterator[JavaServer]:
        """The servers that ended and not by our doing."""
        return (each for each in self.servers() if each.expected_to_run and not each.is_alive())

    # -- start and end -------------------------------------------------------------------------

    def start(self, addresses: Sequence[Address]) -> None:
        """Start all and wait until every broker answers and shows every other.

        ``addresses``: as many as ``plan.ports``. Raises TargetStartError, StartAgain.
        """
        self._make(addresses)
        if self.zookeeper is not None:
            self.zookeeper.start(archive_in=self.scratch.path)
        self._launch(list(self.nodes.values()))
        for broker in self.brokers.values():
            self._await(broker, self.addresses)
        if len(self.controllers) > 1:
            self._await_controllers()  # the brokers needed only a majority
        for controller in self.controllers.values():
            controller.answered()

    def _make(self, addresses: Sequence[Address]) -> None:
        nodes = self.plan.nodes(self.scratch.path, addresses)
        several = self.plan.brokers > 1
        for config in nodes.brokers:
            mine = f"broker {config.node_id} of " if several else ""
            log = f"-broker-{config.node_id}" if several else ""
            self.brokers[config.node_id] = self._node(mine, log, config)
        alone = len(nodes.controllers) == 1
        for config in nodes.controllers:
            mine = "the controller of " if alone else f"controller {config.node_id} of "
            log = "-controller" + ("" if alone else f"-{config.node_id}")
            self.controllers[config.node_id] = self._node(mine, log, config)
        if nodes.zookeeper is not None:
            called = f"Apache Kafka {self.plan.release}"
            self.zookeeper = self._new_zookeeper(called, nodes.zookeeper)
        for server in self.servers():
            server.hold_fd = self.scratch.hold_fd

    def _launch(self, nodes: Sequence[KafkaNode]) -> None:
        """Start these; the first broker of each release leaves a class archive at its end."""
        of_release = {node.config.release: node for node in reversed(self.brokers.values())}
        for node in nodes:
            leaves_archive = node is of_release.get(node.config.release)
            node.launch(archive_in=self.scratch.path if leaves_archive else None)

    @property
    def addresses(self) -> dict[int, Address]:
        """The addresses of the brokers for clients, by id."""
        return {node_id: node.address for node_id, node in self.brokers.items()}

    @property
    def peer_endpoint(self) -> PeerEndpoint | None:
        """The way for another broker to join; None where it had to find the active controller."""
        if self.zookeeper is not None:
            return ZooKeeperEndpoint(self.zookeeper.address)
        first = next(iter(self.brokers.values())).config
        assert self._cluster_id is not None, "KRaft has a cluster id"
        if len(first.quorum.voters) > 1:
            return None
        (controller,) = first.quorum.voters.values()
        return KraftEndpoint(
            controller,
            self._cluster_id,
            first.inter_broker_listener,
            "" if first.internal is None else CLIENT,
        )

    def end_for_archives(self) -> None:
        """End the servers that then leave a class archive, in good order."""
        for server in reversed(self.servers()):
            server.end_for_archive()

    def end(self) -> None:
        """Kill all and remove their data. Twice is fine."""
        for server in reversed(self.servers()):
            server.kill()
        self.scratch.remove()

    def _node(self, role: str, log: str, config: NodeConfig) -> KafkaNode:
        """``role`` begins its name in a sentence, ``log`` ends that of its log."""
        called = f"{role}Apache Kafka {config.release}"
        log_path = reserve_log(self._log_folder, f"kafka-{config.release}{log}")
        folder = self.scratch.path / f"node-{config.node_id}"
        if config.node_id in self._node_folders:
            folder = self._node_folders[config.node_id]
            config = replace(config, log_dir=folder / "log")
        return KafkaNode(called, self._programs.kafka, folder, log_path, config, self._cluster_id)

    def _new_zookeeper(self, called: str, address: Address) -> ZooKeeper:
        assert self._programs.zookeeper is not None
        return ZooKeeper(
            f"the ZooKeeper of {called}",
            self._programs.zookeeper,
            self.scratch.path / "zookeeper",
            reserve_log(self._log_folder, f"{self.name}-zookeeper"),
            address,
        )

    def _await(self, node: KafkaNode, brokers: Mapping[int, Address]) -> None:
        def check() -> None:
            for server in self.servers():
                if server.expected_to_run:
                    server.check_start()

        zookeeper = self.zookeeper if node.config.mode is Mode.ZK else None
        questions = questions_for(node, brokers, zookeeper=zookeeper, cluster_id=self._cluster_id)
        await_answers(node.listens_at, questions, START_TIMEOUT_MS, check)
        node.answered()

    def _await_controllers(self) -> None:
        """Wait until all running controllers answer; one of them need not be active yet.

        A starting controller answers only when a majority runs: with fewer there is no wait.
        """
        running = [node for node in self.controllers.values() if node.is_alive()]
        if 2 * len(running) <= len(self.controllers):
            return
        for node in running:
            if not node.has_answered:
                self._await_controller(node)

    def _await_controller(self, node: KafkaNode) -> None:
        address = node.config.listening(node.config.quorum.voters[node.node_id])
        question: Question = partial(ask_api_versions, address)
        await_answers(address, [question], START_TIMEOUT_MS, node.check_start)
        node.answered()

    # -- one node ------------------------------------------------------------------------------

    def upgrade(self, release: str, programs: Programs) -> None:
        """From its next start on each node is of this release; its files stay."""
        self._programs = programs
        for node in self.nodes.values():
            node.upgrade(replace(node.config, release=release), programs.kafka)

    def restart(self, node: KafkaNode) -> None:
        """End a node in good order if it runs, start it again and await its answer.

        Raises TargetError: it does not end; TargetStartError: it does not come back.
        """
        node.stop()

        def launch() -> None:
            if self.zookeeper is not None:
                self.zookeeper.await_gone(node.node_id)
            node.launch()
            if node.node_id in self.controllers:
                self._await_controllers()
            else:
                self._await(node, {node.node_id: node.address})

        until_started(node.called, launch, node.kill)
