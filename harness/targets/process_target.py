"""What targets made of one process of ours share: the child, its log, starts, ends."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from abc import abstractmethod
from pathlib import Path

from harness.targets.errors import TargetStartError
from harness.targets.process import ChildProcess, Deadline
from harness.targets.target import Address, Target

ATTEMPTS = 5
PAUSE_S = 0.01


class StartAgain(Exception):
    """A start failed by chance (a port was taken meanwhile, say): another attempt may succeed."""


class ProcessTarget(Target):
    """A broker that is one process (with what it starts) under a warden of ours.

    A subclass writes :meth:`_launch`. ``data_dir`` is a scratch folder, None without one; it is
    removed when the process ends, however that comes about.
    """

    def __init__(self, log_dir: Path | None = None) -> None:
        super().__init__(log_dir)
        self.data_dir: Path | None = None
        self._child: ChildProcess | None = None
        self._log_path: Path | None = None

    @abstractmethod
    def _launch(self) -> Address:
        """One attempt: set ``_log_path``, ``_child``, perhaps ``data_dir``; wait for an answer.

        What it leaves undone when it raises is cleared away. Raises TargetError, StartAgain.
        """

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
        reason: StartAgain | None = None
        for _ in range(ATTEMPTS):
            try:
                self.addresses = [self._launch()]
                return self.addresses
            except StartAgain as problem:
                self._end()
                reason = problem
            except BaseException:
                self._end()
                raise
        raise TargetStartError(f"{self.spec}: {ATTEMPTS} starts failed: {reason}") from reason

    def stop(self) -> None:
        self._end()

    def _end(self) -> None:
        """Kill and clear away; whatever was left undone at a failed start too."""
        if self._child is not None:
            self._child.kill()
            self._child = None
        if self.data_dir is not None:
            shutil.rmtree(self.data_dir, ignore_errors=True)
            self.data_dir = None
        self.addresses = []

    def _make_data_dir(self) -> Path:
        self.data_dir = Path(tempfile.mkdtemp(prefix="kafka-conformance-data-"))
        return self.data_dir

    # -- while it starts -----------------------------------------------------------------------

    def _announced(
        self, child: ChildProcess, line: re.Pattern[str], says: str, deadline: Deadline
    ) -> Address:
        """Wait until the log holds ``line``, whose groups ``host`` and ``port`` are the address.

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
