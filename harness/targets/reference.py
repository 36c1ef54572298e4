"""Our own broker, as a process like any other: it has no privileges."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from harness.targets.errors import TargetStartError
from harness.targets.process import ChildProcess, Deadline, reserve_log
from harness.targets.ready import wait_until_ready
from harness.targets.target import (
    BROKER_CONFIG,
    CREATE_TOPICS,
    OWN_BROKER,
    Address,
    Target,
)

# -P: a folder named "harness" in the working directory must not stand in for the package.
COMMAND = (sys.executable, "-P", "-m", "harness.cli", "broker", "--port", "0")
LISTENING = re.compile(r"^listening on (\S+):(\d+)\s*$", re.MULTILINE)
START_TIMEOUT_MS = 30_000
PAUSE_S = 0.01


class ReferenceBroker(Target):
    """The reference broker of this suite.

    ``command`` is what is run; another one (a broker with a defect, say) must take
    ``--setting name=value`` pairs, print ``listening on HOST:PORT`` and serve until killed.
    """

    spec = "reference"
    implementation = "kafka-conformance reference broker"
    capabilities = frozenset({CREATE_TOPICS, OWN_BROKER, BROKER_CONFIG})

    def __init__(
        self,
        *,
        log_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
        start_timeout_ms: int = START_TIMEOUT_MS,
    ) -> None:
        super().__init__(log_dir)
        self.release = version("kafka-conformance")
        self.settings = dict(settings or {})
        self._command = tuple(command)
        self._start_timeout_ms = start_timeout_ms
        self._child: ChildProcess | None = None
        self._log_path: Path | None = None

    @property
    def log_path(self) -> Path | None:
        return self._log_path

    @property
    def pid(self) -> int | None:
        """Process id of the broker, None when it is not started."""
        return self._child.pid if self._child else None

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
        try:
            self._launch()
        except BaseException:
            self.stop()
            raise
        return self.addresses

    def _launch(self) -> None:
        self._log_path = reserve_log(self._log_folder(), "reference")
        pairs = [f"{name}={value}" for name, value in self.settings.items()]
        words = [word for pair in pairs for word in ("--setting", pair)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        child = ChildProcess([*self._command, *words], self._log_path, environment=environment)
        self._child = child
        deadline = Deadline(self._start_timeout_ms)
        address = self._announced(child, deadline)
        wait_until_ready(address, deadline.left_ms(), lambda: self._check_running(child))
        self.addresses = [address]

    def _announced(self, child: ChildProcess, deadline: Deadline) -> Address:
        """Wait for the line that tells the address."""
        while True:
            ended = not child.is_alive()  # asked first: what it wrote before its end counts
            match = LISTENING.search(child.log_text())
            if match:
                return Address(match.group(1).strip("[]"), int(match.group(2)))
            if ended:
                raise TargetStartError(self._ended("ended before it listened", child))
            if not deadline.left_ms():
                raise TargetStartError(
                    f"the broker did not print 'listening on HOST:PORT' within "
                    f"{self._start_timeout_ms} ms; its log {child.log_path} ends with\n"
                    f"{child.tail()}"
                )
            time.sleep(PAUSE_S)

    def _check_running(self, child: ChildProcess) -> None:
        if not child.is_alive():
            raise TargetStartError(self._ended("ended before it answered", child))

    def _ended(self, how: str, child: ChildProcess) -> str:
        return (
            f"the reference broker {how}, with status {child.exit_code()}; "
            f"its log {child.log_path} ends with\n{child.tail()}"
        )

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None
        self.addresses = []

    def _another(self, settings: dict[str, str]) -> ReferenceBroker:
        return ReferenceBroker(
            log_dir=self._log_folder(),
            settings={**self.settings, **settings},
            command=self._command,
            start_timeout_ms=self._start_timeout_ms,
        )
