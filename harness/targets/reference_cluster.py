"""Our own cluster, a process a node, without privileges over any other cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.address import Address
from harness.reference_broker.settings import BrokerSettings, folders_of
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.ports import free_ports
from harness.targets.process import ChildProcess, Deadline, reserve_log
from harness.targets.ready import wait_until_ready
from harness.targets.reference import (
    COMMAND,
    QUICK,
    QUICK_RETURN,
    START_TIMEOUT_MS,
    TAKEN,
    without_zookeeper,
)
from harness.targets.reference_nodes import QUICK_NOTICE, settings_of_node
from harness.targets.run_security import RunSecurity, WantedSecurity
from harness.targets.scratch import ScratchFolder
from harness.targets.start_again import StartAgain, until_started
from harness.targets.starting import start_process
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
    WITHOUT_SIGNALS,
    Target,
)
from harness.virtual_broker.peer_endpoint import KraftEndpoint

if TYPE_CHECKING:
    from harness.proxies.event import Listener

CONTROLLER_ID = 100
CLIENT_LISTENER, INTERNAL, CONTROLLER = "PLAINTEXT", "INTERNAL", "CONTROLLER"
HOST = "127.0.0.1"
STOP_TIMEOUT_MS = 30_000
_LISTENING = re.compile(r"^listening on (?P<host>\S+):(?P<port>\d+)\s*$", re.MULTILINE)


@dataclass(slots=True)
class _Node:
    """One process; ``address`` stays when it is started again."""

    child: ChildProcess
    address: Address
    log_path: Path


class ReferenceCluster(Target):
    """Brokers 1 to ``brokers`` and a controller, the node 100.

    A node that is started again keeps its address and its logs, which are in a folder.
    """

    implementation = "kafka-conformance reference broker"
    is_light = True
    capabilities = frozenset(
        {
            CREATE_TOPICS,
            JOIN_AS_BROKER,
            OWN_BROKER,
            BROKER_CONFIG,
            STOP_NODE,
            KILL_NODE,
            PAUSE_NODE,
            RESTART_NODE,
            LOGS,
            LINKS,
            POWER_LOSS,
            LOG_DIRECTORY,
        }
    )

    def __init__(
        self,
        brokers: int,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        like: str = "",
        command: Sequence[str] = COMMAND,
        start_timeout_ms: int = START_TIMEOUT_MS,
        security: WantedSecurity | None = None,
    ) -> None:
        """``command`` is what is run for each node, as ReferenceBroker takes it. ``security``: of
        all listeners, those between the nodes too; no virtual broker can join then."""
        super().__init__(log_dir)
        self.release = version("kafka-conformance")
        self.brokers, self.like = brokers, like
        self.settings = without_zookeeper(settings or {})
        words = [f"set.{name}={value}" for name, value in self.settings.items()]
        liked = [f"like={like}"] if like else []
        secured = [] if security is None else security.words
        self.spec = ",".join(["reference", f"nodes={brokers}", *liked, *secured, *words])
        self._security = None if security is None else RunSecurity(security, like)
        self.capabilities = self.capabilities - WITHOUT_SIGNALS
        if security is not None:
            self.capabilities = self.capabilities - {JOIN_AS_BROKER}
        self._command, self._start_timeout_ms = tuple(command), start_timeout_ms
        self._cluster_id = ""
        self._scratch: ScratchFolder | None = None
        self._controller: _Node | None = None
        self._nodes: dict[int, _Node] = {}
        self._launched: list[ChildProcess] = []
        """All processes that were started, also those that have not printed their address."""
        self._ended_by_us: set[int] = set()

    @property
    def data_dir(self) -> Path | None:
        """The folder for all nodes' logs; removed at the stop and whenever we end."""
        return self._scratch.path if self._scratch else None

    @property
    def pid(self) -> int | None:
        """Process id of the first broker, None when it is not started."""
        return next((node.child.pid for node in self._nodes.values()), None)

    def describe_failure(self) -> str | None:
        for node in self._nodes.values():
            if not node.child.is_alive():
                return self._said(node.child, node.log_path)
        return None

    # -- start and end ---------------------------------------------------------------------------

    @property
    def log_path(self) -> Path | None:
        """That of the first broker."""
        return next((node.log_path for node in self._nodes.values()), None)

    def is_alive(self) -> bool:
        """True if a broker runs, and only processes that we ended have ended."""
        if self._controller is None:
            return False
        every = {**self._nodes, CONTROLLER_ID: self._controller}
        ended = {node for node, running in every.items() if not running.child.is_alive()}
        return ended <= self._ended_by_us and not set(self._nodes) <= ended

    def start(self) -> list[Address]:
        if self.is_alive():
            return self.addresses
        self.stop()
        until_started(self.spec, self._start_once, self._end)
        return self.addresses

    def _start_once(self) -> None:
        from harness.targets.kafka.broker_config import new_cluster_id

        deadline = Deadline(self._start_timeout_ms)
        self._scratch = ScratchFolder(self.keep_in)
        self._cluster_id = new_cluster_id()
        if self._security is not None:
            self._security.start()
        ports = self._choose_ports()
        controller = self._launch(CONTROLLER_ID, [_CONTROLLER], ports[CONTROLLER_ID])
        self._controller = self._announced(controller, deadline)
        started = {
            broker: self._launch(broker, self._joining(broker), ports[broker])
            for broker in range(1, self.brokers + 1)
        }
        for broker, launched in started.items():
            self._nodes[broker] = self._announced(launched, deadline)
        if self._security is not None:
            self._security.open(node.address for node in self._nodes.values())
            self._security.open(map(self._told, self._nodes))
        for node in self._nodes.values():
            self._await_answer(node, deadline)
        self.secured = None if self._security is None else self._security.way
        listeners = (CLIENT_LISTENER,) if self.brokers == 1 else (INTERNAL, CLIENT_LISTENER)
        if self._security is None:
            at = self._controller.address
            self.peer_endpoint = KraftEndpoint(at, self._cluster_id, *listeners)
        self.nodes, self.controller_nodes = list(self._nodes), (CONTROLLER_ID,)
        self.addresses = [self._told(node) for node in self._nodes]

    def _choose_ports(self) -> dict[int, int]:
        """Choose the port of each node, which it keeps when it is started again."""
        nodes = (CONTROLLER_ID, *range(1, self.brokers + 1))
        return dict(zip(nodes, free_ports(len(nodes)), strict=True))

    def _told(self, node: int) -> Address:
        """The address of a broker for clients."""
        return self._nodes[node].address

    def _joining(self, node: int) -> list[str]:  # noqa: ARG002
        assert self._controller is not None
        words = ["--join", str(self._controller.address)]
        return [*words, "--alone"] if self.brokers == 1 else words

    def _launch(self, node: int, words: list[str], port: int) -> tuple[ChildProcess, Path]:
        log_path = reserve_log(self._log_folder(), f"reference-{node}")
        own = settings_of_node(node, self.brokers, is_broker=node != CONTROLLER_ID)
        pairs = {**QUICK, **own, **self._secured(), **self._own_settings(node), **self.settings}
        assert self._scratch is not None
        folder = self._folder(node)
        command = [*self._command, "--port", str(port), *words]
        command += ["--cluster-id", self._cluster_id, "--data-dir", str(folder)]
        for name, value in pairs.items():
            command += ["--setting", f"{name}={value}"]
        command += ["--like", self.like] if self.like else []
        security = self._security
        if security is not None and node == CONTROLLER_ID:
            command += security.reference_users
        environment = dict(os.environ if security is None else security.client_environment)
        environment["PYTHONUNBUFFERED"] = "1"
        hold_fd = self._scratch.hold_fd
        child = start_process(command, log_path, environment=environment, hold_fd=hold_fd)
        self._launched = [*(each for each in self._launched if each.is_alive()), child]
        return child, log_path

    def _secured(self) -> dict[str, str]:
        """The settings of all nodes that secure their listeners."""
        if self._security is None:
            return {}
        return self._security.reference_node_settings(CLIENT_LISTENER, INTERNAL, CONTROLLER)

    def _folder(self, node: int) -> Path:
        assert self._scratch is not None
        return self.node_folders.get(node, self._scratch.path / f"node-{node}")

    def log_directories(self, node: int) -> list[Path]:
        self._node(node)
        return folders_of(BrokerSettings.of(self.settings, self.like), self._folder(node))

    def _own_settings(self, node: int) -> dict[str, str]:  # noqa: ARG002
        """More settings of one node."""
        return {}

    def _announced(self, launched: tuple[ChildProcess, Path], deadline: Deadline) -> _Node:
        child, log_path = launched
        while True:
            found = _LISTENING.search(child.log_text())
            if found is not None:
                address = Address(found["host"], int(found["port"]))
                return _Node(child, address, log_path)
            self._check(child, log_path)
            if deadline.left_ms() <= 0:
                child.kill()
                raise TargetStartError(f"{self.spec}: a node does not begin; its log: {log_path}")
            child.wait(_LOOK_AGAIN_MS)

    def _check(self, child: ChildProcess, log_path: Path) -> None:
        """The ports were free a moment ago; at a restart they are ours."""
        if child.is_alive():
            return
        if not self.nodes and TAKEN in child.log_text():
            raise StartAgain(f"a port was taken by another process; the log is {log_path}")
        raise TargetStartError(self._said(child, log_path))

    def _said(self, child: ChildProcess, log_path: Path) -> str:
        return (
            f"{self.spec}: a node ended with exit code {child.exit_code()}; its log, {log_path}, "
            f"ends with\n{child.tail()}"
        )

    def _await_answer(self, node: _Node, deadline: Deadline) -> None:
        wait_until_ready(
            node.address, deadline.left_ms(), lambda: self._check(node.child, node.log_path)
        )

    def stop(self) -> None:
        self._end()

    def _end(self) -> None:
        """Kill and clear away, also after a failed start."""
        self._nodes, self._controller = {}, None
        self._ended_by_us.clear()
        launched, self._launched = self._launched, []
        for child in launched:
            child.kill()
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.remove()
        self.addresses, self.nodes, self.peer_endpoint = [], [], None
        self.controller_nodes, self.secured = (), None
        if self._security is not None:
            self._security.stop()

    # -- one node --------------------------------------------------------------------------------

    def _node(self, node: int) -> _Node:
        if node in self.controller_nodes and self._controller is not None:
            return self._controller
        self.address_of(node)
        return self._nodes[node]

    def node_is_alive(self, node: int) -> bool:
        return self._node(node).child.is_alive()

    def stop_node(self, node: int) -> None:
        child = self._node(node).child
        self._ended_by_us.add(node)
        child.terminate(STOP_TIMEOUT_MS)

    def kill_node(self, node: int) -> None:
        child = self._node(node).child
        self._ended_by_us.add(node)
        child.kill()

    def pause_node(self, node: int) -> None:
        child = self._node(node).child
        if not child.is_alive():
            raise TargetError(f"{self.spec}: node {node} has ended and cannot be paused")
        child.pause()

    def resume_node(self, node: int) -> None:
        self._node(node).child.resume()

    def restart_node(self, node: int) -> None:
        before = self._node(node)
        before.child.kill()
        deadline = Deadline(self._start_timeout_ms)
        is_controller = node in self.controller_nodes
        words = [_CONTROLLER] if is_controller else self._joining(node)
        started = self._announced(self._launch(node, words, before.address.port), deadline)
        if is_controller:
            self._controller = started
        else:
            self._nodes[node] = started
            self._await_answer(started, deadline)
        self._ended_by_us.discard(node)

    def logs(self, node: int) -> str:
        return self._node(node).child.log_text()

    # -- another one -----------------------------------------------------------------------------

    def _another(self, settings: dict[str, str]) -> ReferenceCluster:
        """One broker, with a controller of its own: tests that ask for it need no more."""
        return self._private(settings, 1)

    def _another_kept(self, settings: dict[str, str]) -> ReferenceCluster:
        return self._private({**QUICK_RETURN, **settings}, 1)

    def _another_cluster(self, settings: dict[str, str], nodes: int) -> ReferenceCluster:
        return self._private({**QUICK_NOTICE, **self.settings, **settings}, nodes)

    def _private(self, settings: dict[str, str], nodes: int) -> ReferenceCluster:
        return ReferenceCluster(
            nodes,
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            like=self.like,
            command=self._command,
            start_timeout_ms=self._start_timeout_ms,
            security=None if self._security is None else self._security.wanted,
        )

    def _another_linked(
        self, settings: dict[str, str], nodes: int, tell: Listener | None
    ) -> ReferenceCluster:
        from harness.targets.linked_reference import LinkedReference  # the proxies

        return LinkedReference(
            nodes,
            log_dir=self._log_folder(),
            settings={**QUICK_NOTICE, **self.settings, **settings},
            like=self.like,
            command=self._command,
            start_timeout_ms=self._start_timeout_ms,
            security=None if self._security is None else self._security.wanted,
            tell=tell,
        )


_CONTROLLER = "--controller"
_LOOK_AGAIN_MS = 10
