"""Our side of the guard (:mod:`harness.targets.containers.guard`)."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from pathlib import Path

from harness.targets.containers.guard import FOLLOW, READY
from harness.targets.errors import TargetStartError

READY_TIMEOUT_MS = 30_000
END_TIMEOUT_MS = 60_000
# -P: a folder named "harness" in the working directory must not stand in for the package.
COMMAND = (sys.executable, "-P", "-m", "harness.targets.containers.guard")


class Guard:
    """One guard, for the containers with the label of ``run``; ``log_path`` gets their output."""

    def __init__(self, run: str, log_path: Path) -> None:
        self.run = run
        self.log_path = log_path
        with log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [*COMMAND, run, os.fspath(log_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id of the guard."""
        return self._process.pid

    def follow(self) -> None:
        """Notify the guard that the container was started (again). Raises TargetStartError."""
        self._await_ready()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(FOLLOW)
            self._process.stdin.flush()
        except BrokenPipeError as problem:
            raise TargetStartError(self._gone()) from problem

    def _await_ready(self) -> None:
        said = self._process.stdout
        if said is None:
            return
        ready, _, _ = select.select([said], [], [], READY_TIMEOUT_MS / 1000)
        if not ready or said.readline() != READY:
            raise TargetStartError(self._gone())
        said.close()
        self._process.stdout = None

    def _gone(self) -> str:
        return f"the guard of the container does not answer; what it said is in {self.log_path}"

    def end(self) -> None:
        """Have it remove the containers, and await its end; whether it did is for others to see:
        a guard may have been killed."""
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(END_TIMEOUT_MS / 1000)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
