"""Apache Kafka of any pinned release as a target: one broker, with ZooKeeper or KRaft."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.targets.artifacts import fetch_release
from harness.targets.errors import TargetStartError
from harness.targets.kafka.broker_config import NodeConfig, Quorum, new_cluster_id
from harness.targets.kafka.eras import Mode, choose_mode, listeners_of
from harness.targets.kafka.jvm import HEAP, Jvm, checked_heap, java_for
from harness.targets.kafka.node import KafkaNode
from harness.targets.kafka.ports import HOST, free_ports
from harness.targets.kafka.readiness import questions_for
from harness.targets.kafka.server import JavaServer
from harness.targets.kafka.zookeeper import ZooKeeper, zookeeper_jvm
from harness.targets.pinned_file import Progress
from harness.targets.process import reserve_log
from harness.targets.process_target import ATTEMPTS, StartAgain
from harness.targets.ready import await_answers
from harness.targets.scratch import ScratchFolder
from harness.targets.target import (
    BROKER_CONFIG,
    CREATE_TOPICS,
    OWN_BROKER,
    Address,
    Target,
)

START_TIMEOUT_MS = 60_000
NODE_ID = 1


class KafkaTarget(Target):
    """A released Apache Kafka, all of it on 127.0.0.1.

    ``mode`` is "kraft" (one node that is broker and controller) or "zk" (a broker and a ZooKeeper
    process); by default "kraft" from 3.3 on, where it is fit for production, else "zk".

    Kafka's own defaults hold (topics are created automatically, say) except for those of
    :data:`harness.targets.kafka.broker_config.SMALL_NODE`, and that topics can be deleted before
    1.0 too (``delete.topic.enable``), so that tests can clean up; ``settings`` by Kafka's names
    win. All data is in a temporary folder and goes with the target.
    """

    implementation = "Apache Kafka"
    capabilities = frozenset({CREATE_TOPICS, OWN_BROKER, BROKER_CONFIG})

    def __init__(
        self,
        release: str,
        *,
        mode: str | None = None,
        heap: str = HEAP,
        settings: Mapping[str, str] | None = None,
        log_dir: Path | None = None,
        progress: Progress | None = None,
        choose_ports: Callable[[int], list[int]] = free_ports,
        write_archive: bool = True,
    ) -> None:
        """``heap``: of each broker, as in java's -Xmx. ``progress`` is told of downloads.
        ``write_archive``: whether the stop may take some seconds, once, to leave a class archive
        for quicker starts. Raises TargetError: a release without that mode, a bad heap."""
        super().__init__(log_dir)
        self.release = release
        listeners_of(release)  # is it a release at all
        self.mode = choose_mode(release, mode)
        self.heap = checked_heap(heap)
        self.settings = dict(settings or {})
        self.spec = self._spec()
        self._progress = progress
        self._choose_ports = choose_ports
        self._write_archive = write_archive
        self._scratch: ScratchFolder | None = None
        self._zookeeper: ZooKeeper | None = None
        self._brokers: list[KafkaNode] = []
        self._log_path: Path | None = None

    def _spec(self) -> str:
        """The shortest string that means this target."""
        options = [f"set.{name}={value}" for name, value in self.settings.items()]
        if self.heap != HEAP:
            options.insert(0, f"heap={self.heap}")
        if self.mode is not choose_mode(self.release, None):
            options.insert(0, f"mode={self.mode.value}")
        return ",".join([f"kafka:{self.release}", *options])

    # -- what is asked of every target ---------------------------------------------------------

    @property
    def log_path(self) -> Path | None:
        return self._log_path

    @property
    def data_dir(self) -> Path | None:
        """Everything that its processes keep on disk but logs; None when it is not started."""
        return self._scratch.path if self._scratch else None

    @property
    def pid(self) -> int | None:
        """Process id of the first broker, None when it is not started."""
        return self._brokers[0].pid if self._brokers else None

    def is_alive(self) -> bool:
        """Whether every process runs that has not been ended by us."""
        return bool(self.addresses) and not any(self._dead())

    def describe_failure(self) -> str | None:
        dead = next(self._dead(), None)
        return dead.ended() if dead else None

    def _servers(self) -> list[JavaServer]:
        return [*([self._zookeeper] if self._zookeeper else []), *self._brokers]

    def _dead(self) -> Iterator[JavaServer]:
        return (each for each in self._servers() if each.expected_to_run and not each.is_alive())

    def start(self) -> list[Address]:
        if self.is_alive():
            return self.addresses
        self.stop()
        reason: StartAgain | None = None
        for _ in range(ATTEMPTS):
            try:
                self._start_once()
                return self.addresses
            except StartAgain as problem:
                self._end()
                reason = problem
            except BaseException:
                self._end()
                raise
        raise TargetStartError(f"{self.spec}: {ATTEMPTS} starts failed: {reason}") from reason

    def stop(self) -> None:
        try:
            for server in reversed(self._servers()):
                server.end_for_archive()
        finally:
            self._end()

    def _end(self) -> None:
        """Kill and clear away; whatever was left undone at a failed start too."""
        for server in reversed(self._servers()):
            server.kill()
        self._brokers = []
        self._zookeeper = self.zookeeper = None
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
        self.addresses = []
        self.nodes = []

    # -- starting ------------------------------------------------------------------------------

    def _start_once(self) -> None:
        """One attempt. What it leaves undone when it raises is cleared away by ``_end``."""
        jars = fetch_release(self.release, self._progress)
        java = java_for(self.spec)
        kraft = self.mode is Mode.KRAFT
        name = f"kafka-{self.release}" + ("" if kraft else "-zk")
        jvm = Jvm(java, name, jars, self.heap)
        addresses = [Address(HOST, port) for port in self._choose_ports(2)]
        self._log_path = reserve_log(self._log_folder(), f"kafka-{self.release}")
        self._scratch = ScratchFolder()
        cluster_id = new_cluster_id() if kraft else None
        if kraft:
            quorum = Quorum(addresses[1], NODE_ID)
        else:
            quorum = Quorum(addresses[1])
            self._start_zookeeper(zookeeper_jvm(java, self._progress), addresses[1])
        folder = self._scratch.path / "broker"
        config = NodeConfig(
            self.release,
            self.mode,
            NODE_ID,
            quorum,
            folder / "log",
            addresses[0],
            settings=self.settings,
        )
        called = f"{self.implementation} {self.release}"
        node = KafkaNode(called, jvm, folder, self._log_path, config, cluster_id)
        self._brokers = [node]
        node.launch(write_archive=self._write_archive)
        self._await(node, {NODE_ID: addresses[0]}, cluster_id)
        self.addresses = addresses[:1]
        self.nodes = [NODE_ID]

    def _start_zookeeper(self, jvm: Jvm, address: Address) -> None:
        assert self._scratch is not None
        log_path = reserve_log(self._log_folder(), f"kafka-{self.release}-zookeeper")
        called = f"the ZooKeeper of {self.implementation} {self.release}"
        folder = self._scratch.path / "zookeeper"
        self._zookeeper = ZooKeeper(called, jvm, folder, log_path, address)
        self._zookeeper.start(write_archive=self._write_archive)
        self.zookeeper = address

    def _await(
        self, node: KafkaNode, brokers: Mapping[int, Address], cluster_id: str | None
    ) -> None:
        def check() -> None:
            node.check_start()
            if self._zookeeper is not None:
                self._zookeeper.check_running()

        questions = questions_for(node, brokers, zookeeper=self._zookeeper, cluster_id=cluster_id)
        await_answers(node.address, questions, START_TIMEOUT_MS, check)
        node.answered()

    def _another(self, settings: dict[str, str]) -> KafkaTarget:
        """With a ZooKeeper of its own: this target may run in another process, or nowhere."""
        return KafkaTarget(
            self.release,
            mode=self.mode.value,
            heap=self.heap,
            settings={**self.settings, **settings},
            log_dir=self._log_folder(),
            write_archive=False,
        )
