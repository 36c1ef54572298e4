"""The nodes of an external cluster: their addresses, and the actions that its owner allows."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from harness.base.address import Address
from harness.targets.access_file import AccessFile
from harness.targets.asking import ask_cluster
from harness.targets.command_file import filled
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.not_answered import NotAnswered

NOWHERE_ELSE: Mapping[Address, Address] = MappingProxyType({})
"""This machine reaches the brokers at the addresses that they list."""
LOG_LIMIT_BYTES = 64 * 1024
SHOWN_LINES = 20


def find_nodes(
    bootstrap: Sequence[Address], timeout_ms: int, reached: Mapping[Address, Address] = NOWHERE_ELSE
) -> list[int]:
    """Return the broker ids behind the addresses, in their order, by Metadata.

    Names that mean the same host are equal; ``reached`` as in Target. Raises TargetStartError: an
    address is none of those that the cluster returns to its clients, so the node behind it is
    unknown.
    """
    try:
        cluster = ask_cluster(bootstrap[0], timeout_ms)
    except NotAnswered as problem:
        raise TargetStartError(
            f"{bootstrap[0]} does not name its nodes: {problem}. {problem.advice}"
        ) from problem
    here = (reached.get(address, address) for address in cluster.brokers)
    shown = dict(zip(cluster.nodes, here, strict=True))
    return [_node_at(address, shown) for address in bootstrap]


def _node_at(address: Address, shown: dict[int, Address]) -> int:
    exactly = [node for node, there in shown.items() if there == address]
    same = exactly or [node for node, there in shown.items() if same_place(there, address)]
    if len(same) == 1:
        return same[0]
    told = ", ".join(f"{node} at {there}" for node, there in sorted(shown.items())) or "no node"
    raise TargetStartError(
        f"which node is at {address} is not known: the cluster shows {told}. Give these addresses, "
        "or leave commands, logs and log_directories out of the access file"
    )


def same_place(one: Address, other: Address) -> bool:
    """True if both lead to one listener: one port of hosts with an address in common."""
    return one.port == other.port and bool(_hosts(one) & _hosts(other))


def _hosts(address: Address) -> set[object]:
    """All network addresses that the name has; none when it cannot be resolved."""
    try:
        return {info[4][0] for info in socket.getaddrinfo(address.host, address.port)}
    except OSError:
        return set()


class NodeCommands:
    """The commands and files that an access file grants for the nodes of one cluster."""

    def __init__(self, access: AccessFile) -> None:
        self.access = access

    def run(self, name: str, node: int, address: Address) -> None:
        """Run one of the file's commands. Raises TargetStartError: it failed, or did not end."""
        self._output(f"commands.{name}", self.access.commands[name], node, address)

    def folders(self, node: int) -> list[Path]:
        """Return the node's log directories. Raises TargetError: not in the file, or not there."""
        if node not in self.access.log_directories:
            raise TargetError(f"{self.access.path}: log_directories has no entry for node {node}")
        found = list(self.access.log_directories[node])
        for folder in found:
            if not folder.is_dir():
                raise TargetError(
                    f"{self.access.path}: log_directories.{node}: {folder} is no folder that we "
                    "can see"
                )
        return found

    def log_file(self, node: int, address: Address) -> Path | None:
        """Return the file that the node logs to; None without a file."""
        if self.access.logs_file is None:
            return None
        return self.access.folder / filled(self.access.logs_file, _values(node, address))

    def logs(self, node: int, address: Address) -> str:
        """The end of what the node printed. Raises TargetError where it cannot be had."""
        path = self.log_file(node, address)
        if path is None:
            said = self._output("logs.command", self.access.logs_command, node, address)
            return said[-LOG_LIMIT_BYTES:].decode(errors="replace")
        try:
            with path.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_LIMIT_BYTES))
                return log.read().decode(errors="replace")
        except OSError as problem:
            raise TargetError(
                f"{self.access.path}: logs.file: {path} cannot be read: {problem.strerror}"
            ) from problem

    def _output(self, key: str, words: Sequence[str], node: int, address: Address) -> bytes:
        command = [filled(word, _values(node, address)) for word in words]
        whose = f"{self.access.path}: {key} ({' '.join(command)})"
        try:
            child = subprocess.Popen(
                command,
                cwd=self.access.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as problem:
            raise TargetStartError(f"{whose}: cannot be run: {problem.strerror}") from problem
        with child:
            try:
                said, _ = child.communicate(timeout=self.access.command_timeout_ms / 1000)
            except BaseException as problem:
                os.killpg(child.pid, signal.SIGKILL)
                said, _ = child.communicate()
                if not isinstance(problem, subprocess.TimeoutExpired):
                    raise
                raise TargetStartError(
                    f"{whose}: did not end within {self.access.command_timeout_ms} ms; it said:\n"
                    f"{_tail(said)}"
                ) from problem
        if child.returncode != 0:
            raise TargetStartError(
                f"{whose}: ended with exit code {child.returncode}; it said:\n{_tail(said)}"
            )
        return said


def _values(node: int, address: Address) -> dict[str, str]:
    return {"node": str(node), "host": address.host, "port": str(address.port)}


def _tail(said: bytes) -> str:
    last = said.decode(errors="replace").splitlines()[-SHOWN_LINES:]
    return "\n".join(f"    {line}" for line in last) or "    (nothing)"
