"""A broker that others run: its address, and the actions that its owner allows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.base.address import Address
from harness.targets.access_file import NEVER, AccessFile
from harness.targets.asking import (
    advertises,
    ask_api_versions,
    ask_cluster,
    ask_oldest_cluster,
)
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.external_nodes import NodeCommands, find_nodes
from harness.targets.not_answered import NotAnswered
from harness.targets.process import Deadline
from harness.targets.ready import wait_until_ready
from harness.targets.secured_cluster import SecuredCluster
from harness.targets.target import (
    CREATE_TOPICS,
    DISCONNECT_NODE,
    KILL_NODE,
    LOG_DIRECTORY,
    LOGS,
    PAUSE_NODE,
    RESTART_NODE,
    SAFETY_CLASSES,
    STOP_NODE,
    Target,
)

ANSWER_TIMEOUT_MS = 10_000
ALIVE_TIMEOUT_MS = 5_000
SILENCE_TIMEOUT_MS = 500
PAUSE_S = 0.05
UNDO = {"stop": "restart", "kill": "restart", "pause": "resume", "disconnect": "reconnect"}
"""The command that brings a node back, by the command before it."""


class ExternalBroker(Target):
    """Brokers at given addresses, neither started nor stopped by us.

    Without an access file tests may create topics, and nothing is known of nodes and logs. A
    destructive request is never sent. A node that a test has left stopped, paused or cut off is
    brought back by :meth:`stop`.
    """

    implementation = "external"
    release = "unknown"
    capabilities = frozenset({CREATE_TOPICS})
    safety = frozenset(SAFETY_CLASSES) - {NEVER}

    def __init__(
        self,
        bootstrap: Sequence[Address],
        *,
        access: AccessFile | None = None,
        secured: SecuredCluster | None = None,
        log_dir: Path | None = None,
        answer_timeout_ms: int = ANSWER_TIMEOUT_MS,
    ) -> None:
        super().__init__(log_dir)
        self.bootstrap = list(bootstrap)
        self.spec = "external:" + ",".join(str(address) for address in self.bootstrap)
        self._answer_timeout_ms = answer_timeout_ms
        self._advertises: dict[Address, bool] = {}
        self._granted: NodeCommands | None = None
        self._left: dict[int, str] = {}  # node to the command that brings it back
        if access is not None:
            self._granted = NodeCommands(access)
            self.spec += f",profile={access.path}"
            self.implementation, self.release = access.implementation, access.release
            self.capabilities, self.safety = access.capabilities, access.safety
            self.name_prefix, self.reached = access.name_prefix, access.addresses
        self._secured = secured
        if secured is not None:
            self.spec += f",config={secured.file}"

    @property
    def log_path(self) -> Path | None:
        """The first node's, where the access file names a log file that is there."""
        if self._granted is None or not self.nodes:
            return None
        path = self._granted.log_file(self.nodes[0], self.addresses[0])
        return path if path is not None and path.is_file() else None

    def start(self) -> list[Address]:
        """Ask each address for its ApiVersions, or Metadata v0; all of them must answer.

        Which node is behind which address is asked where the access file grants something for one.
        """
        if self._secured is not None:
            self._secured.open(self.bootstrap)
        for address in self.bootstrap:
            try:
                self._advertises[address] = advertises(address, self._answer_timeout_ms)
            except NotAnswered as problem:
                raise TargetStartError(problem.at(address)) from problem
        if self._secured is not None:
            self._open_all(self._secured)
        if self._granted is not None and self.capabilities - {CREATE_TOPICS}:
            self.nodes = find_nodes(self.bootstrap, self._answer_timeout_ms, self.reached)
        self.addresses = list(self.bootstrap)
        return self.addresses

    def _open_all(self, secured: SecuredCluster) -> None:
        """Enter each broker that the cluster lists; the tests find out if Metadata is wrong."""
        with suppress(NotAnswered):
            listed = ask_cluster(self.bootstrap[0], self._answer_timeout_ms).brokers
            secured.open(self.reached.get(address, address) for address in listed)
        self.secured = secured.way

    def is_alive(self) -> bool:
        """True if all addresses still answer (before the start: False)."""
        return bool(self.addresses) and all(self._answers(address) for address in self.addresses)

    def _answers(self, address: Address, timeout_ms: int = ALIVE_TIMEOUT_MS) -> bool:
        ask = ask_api_versions if self._advertises[address] else ask_oldest_cluster
        try:
            ask(address, timeout_ms)
        except NotAnswered:
            return False
        return True

    def stop(self) -> None:
        """Bring back the nodes that tests have left; then only forget the addresses.

        Raises TargetStartError when a node does not come back: its owner has to see to it.
        """
        try:
            for node, command in list(self._left.items()):
                self._bring_back(command, node)
        finally:
            self._left.clear()
            self.addresses, self.nodes = [], []
            if self._secured is not None:
                self._secured.close()
                self.secured = None

    # -- one node ------------------------------------------------------------------------------

    def node_is_alive(self, node: int) -> bool:
        """True if it answers, or was paused: a node is paused only while it answers."""
        address = self.address_of(node)
        return self._left.get(node) == UNDO["pause"] or self._answers(address)

    def stop_node(self, node: int) -> None:
        self._end(STOP_NODE, "stop", node)

    def kill_node(self, node: int) -> None:
        self._end(KILL_NODE, "kill", node)

    def pause_node(self, node: int) -> None:
        _, address = self._access(PAUSE_NODE, node)
        if self._left.get(node) == UNDO["pause"]:
            return
        if not self._answers(address):
            raise TargetError(f"node {node} of {self.spec} does not answer, nor can it pause")
        self._do(PAUSE_NODE, "pause", node)

    def resume_node(self, node: int) -> None:
        self._access(PAUSE_NODE, node)
        if self._left.get(node) == UNDO["pause"]:
            self._return(PAUSE_NODE, "resume", node)

    def restart_node(self, node: int) -> None:
        self._return(RESTART_NODE, "restart", node)

    def disconnect_node(self, node: int) -> None:
        self._end(DISCONNECT_NODE, "disconnect", node)

    def reconnect_node(self, node: int) -> None:
        self._return(DISCONNECT_NODE, "reconnect", node)

    def log_directories(self, node: int) -> list[Path]:
        granted, _ = self._access(LOG_DIRECTORY, node)
        return granted.folders(node)

    def logs(self, node: int) -> str:
        granted, address = self._access(LOGS, node)
        return granted.logs(node, address)

    def _access(self, capability: str, node: int) -> tuple[NodeCommands, Address]:
        self.require(capability)
        assert self._granted is not None, "only an access file grants this"
        return self._granted, self.address_of(node)

    def _do(self, capability: str, command: str, node: int) -> None:
        granted, address = self._access(capability, node)
        if command in UNDO:  # noted first: a command that fails may have had its effect
            self._left[node] = UNDO[command]
        granted.run(command, node, address)

    def _end(self, capability: str, command: str, node: int) -> None:
        """Await that nothing answers any more; no command for a node that has ended so before."""
        granted, address = self._access(capability, node)
        left = self._left.get(node)
        if left == UNDO[command] and not self._answers(address, SILENCE_TIMEOUT_MS):
            return
        if left == UNDO["pause"] and command == "stop":
            self.resume_node(node)  # one that is frozen does not hear that it shall end
        self._do(capability, command, node)
        deadline = Deadline(granted.access.answer_timeout_ms)
        while self._answers(address, SILENCE_TIMEOUT_MS):
            if not deadline.left_ms():
                raise TargetStartError(
                    f"{granted.access.path}: commands.{command} ended well, but node {node} still "
                    f"answers at {address} after {deadline.timeout_ms:.0f} ms"
                )
            time.sleep(PAUSE_S)

    def _return(self, capability: str, command: str, node: int) -> None:
        """Await that it answers again."""
        self._do(capability, command, node)
        granted, address = self._access(capability, node)
        try:
            wait_until_ready(address, granted.access.answer_timeout_ms, lambda: None)
        except TargetStartError as problem:
            raise TargetStartError(
                f"{granted.access.path}: commands.{command} ended well, but node {node} did not "
                f"come back: {problem}"
            ) from problem
        if self._left.get(node) == command:
            del self._left[node]

    def _bring_back(self, command: str, node: int) -> None:
        capability = {"resume": PAUSE_NODE, "reconnect": DISCONNECT_NODE}.get(command, RESTART_NODE)
        if capability not in self.capabilities:
            raise TargetStartError(
                f"{self.spec}: node {node} was stopped, and the access file has no "
                f"commands.{command} to bring it back"
            )
        self._return(capability, command, node)
