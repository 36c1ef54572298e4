"""The base of targets that are one process of ours: the child, its log, starts, ends."""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from pathlib import Path

from harness.base.address import Address
from harness.targets.asking import ask_cluster
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.not_answered import NotAnswered
from harness.targets.process import ChildProcess, Deadline, end_of_log
from harness.targets.scratch import ScratchFolder
from harness.targets.start_again import StartAgain, until_started
from harness.targets.target import (
    KILL_NODE,
    LOGS,
    PAUSE_NODE,
    RESTART_NODE,
    STOP_NODE,
    WITHOUT_SIGNALS,
    Target,
)

PAUSE_S = 0.01
ANSWER_TIMEOUT_MS = 30_000
STOP_TIMEOUT_MS = 30_000
PORT_TIMEOUT_MS = 10_000
"""Time that a restart waits for its port: another process may hold it for a moment."""


class ProcessTarget(Target):
    """A broker that is one process (with what it starts) under a warden of ours.

    A subclass writes :meth:`_launch`, and :meth:`_launch_again` where it declares RESTART_NODE. Its
    one node has the broker id that Metadata contains after the start.
    """

    def __init__(self, log_dir: Path | None = None) -> None:
        super().__init__(log_dir)
        self.capabilities = self.capabilities - WITHOUT_SIGNALS
        self._scratch: ScratchFolder | None = None
        self._child: ChildProcess | None = None
        self._log_path: Path | None = None

    @abstractmethod
    def _launch(self) -> Address:
        """One attempt: set ``_log_path``, ``_child``, perhaps a scratch folder; await an answer.

        What it leaves undone when it raises is cleared away. Raises TargetError, StartAgain.
        """

    def _launch_again(self, address: Address) -> None:
        """Start the ended process at the address that it had, with the data that is there.

        Raises TargetError, StartAgain.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how to start it again")

    def _called(self) -> str:
        """The target's name within a sentence."""
        return f"{self.implementation} {self.release}"

    @property
    def log_path(self) -> Path | None:
        return self._log_path

    @property
    def pid(self) -> int | None:
        """Process id of the broker, None when it is not started."""
        return self._child.pid if self._child else None

    @property
    def data_dir(self) -> Path | None:
        """The folder for its data, None without one; removed at the stop and whenever we end."""
        return self._scratch.path if self._scratch else None

    def is_alive(self) -> bool:
        return self._child is not None and self._child.is_alive()

    def describe_failure(self) -> str | None:
        if self._child is None or self._child.is_alive():
            return None
        return self._ended("ended", self._child)

    def start(self) -> list[Address]:
        if self.is_alive():
            return self.addresses
        self.stop()
        return until_started(self.spec, self._start_once, self._end)

    def _start_once(self) -> list[Address]:
        address = self._launch()
        self.nodes = self._nodes_at(address)
        self.addresses = [address]
        return self.addresses

    def stop(self) -> None:
        self._end()

    def _end(self) -> None:
        """Kill and clear away, also after a failed start."""
        self._kill_child()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
        self.addresses, self.nodes = [], []

    def _kill_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _make_data_dir(self) -> Path:
        self._scratch = ScratchFolder(self.keep_in)
        return self._scratch.path

    @property
    def _hold_fd(self) -> int | None:
        """For the process: while it runs, the data folder stays."""
        return self._scratch.hold_fd if self._scratch else None

    # -- its node ------------------------------------------------------------------------------

    def _nodes_at(self, address: Address) -> list[int]:
        """The id of the broker that answers there by its own Metadata; empty if it hides that."""
        try:
            cluster = ask_cluster(address, ANSWER_TIMEOUT_MS)
        except NotAnswered as problem:
            what = f"{self._called()} does not return its broker id: {problem}"
            raise TargetStartError(what) from problem
        there = list(zip(cluster.brokers, cluster.nodes, strict=True))
        by_address = [node for broker, node in there if broker == address]
        by_port = [node for broker, node in there if broker.port == address.port]
        return next((found for found in (by_address, by_port) if len(found) == 1), [])

    def stop_node(self, node: int) -> None:
        self.require(STOP_NODE)
        self.address_of(node)
        if self._child is not None:
            self._stop_politely(self._child)

    def _stop_politely(self, child: ChildProcess) -> None:
        if child.terminate(self._stop_timeout_ms()) is None:
            raise TargetError(
                f"{self._called()} did not end within {self._stop_timeout_ms()} ms of SIGTERM; "
                f"its log {child.log_path} ends with\n{child.tail()}"
            )

    def _stop_timeout_ms(self) -> int:
        return STOP_TIMEOUT_MS

    def kill_node(self, node: int) -> None:
        self.require(KILL_NODE)
        self.address_of(node)
        if self._child is not None:
            self._child.kill()

    def pause_node(self, node: int) -> None:
        self.require(PAUSE_NODE)
        self.address_of(node)
        if self._child is None or not self._child.is_alive():
            raise TargetError(f"the broker {node} of {self.spec} does not run, nor can it pause")
        self._child.pause()

    def resume_node(self, node: int) -> None:
        self.require(PAUSE_NODE)
        self.address_of(node)
        if self._child is not None:
            self._child.resume()

    def restart_node(self, node: int) -> None:
        self.require(RESTART_NODE)
        address = self.address_of(node)
        if self._child is not None and self._child.is_alive():
            self._stop_politely(self._child)
        deadline = Deadline(PORT_TIMEOUT_MS)
        while True:
            try:
                self._launch_again(address)
                break
            except StartAgain as problem:
                self._kill_child()
                if not deadline.left_ms():
                    raise TargetStartError(f"{self.spec} is not started again: {problem}") from (
                        problem
                    )
                time.sleep(PAUSE_S)
        if self._nodes_at(address) != [node]:
            raise TargetStartError(f"{self.spec}: the broker at {address} is no more {node}")

    def logs(self, node: int) -> str:
        self.require(LOGS)
        self.address_of(node)
        return end_of_log(self._log_path) if self._log_path else ""

    # -- while it starts -----------------------------------------------------------------------

    def _announced(
        self, child: ChildProcess, line: re.Pattern[str], says: str, deadline: Deadline
    ) -> Address:
        """Wait until the log contains ``line``; its groups ``host`` and ``port`` are the address.

        Without ``host`` it is 127.0.0.1. ``says`` is the line in words. Raises TargetStartError.
        """
        while True:
            ended = not child.is_alive()  # asked first: what it wrote before its end counts
            match = line.search(child.log_text())
            if match:
                host = match.groupdict().get("host") or "127.0.0.1"
                return Address(host.strip("[]"), int(match["port"]))
            if ended:
                raise TargetStartError(self._ended("ended before it listened", child))
            if not deadline.left_ms():
                raise TargetStartError(
                    f"{self._called()} did not print {says} within {deadline.timeout_ms:.0f} ms; "
                    f"its log {child.log_path} ends with\n{child.tail()}"
                )
            time.sleep(PAUSE_S)

    def _check_running(self, child: ChildProcess) -> None:
        """For the time of waiting: raises TargetStartError at once when the process has ended."""
        if not child.is_alive():
            raise TargetStartError(self._ended("ended before it answered", child))

    def _ended(self, how: str, child: ChildProcess) -> str:
        return (
            f"{self._called()} {how}, with status {child.exit_code()}; "
            f"its log {child.log_path} ends with\n{child.tail()}"
        )
