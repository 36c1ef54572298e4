"""The start of a broker's process in the quickest way that the system has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.base.operating_system import HAS_FORK
from harness.targets.process import ChildProcess


def start_process(
    command: Sequence[str],
    log: Path,
    *,
    environment: Mapping[str, str],
    hold_fd: int | None = None,
) -> ChildProcess:
    """Fork the command where that does the same as to execute it. Raises TargetStartError.

    The arguments are those of ChildProcess.
    """
    if HAS_FORK:
        from harness.targets import forking

        server = forking.server_for(command, environment)
        if server is not None:
            return forking.ForkedProcess(
                server, command, log, environment=environment, hold_fd=hold_fd
            )
    return ChildProcess(command, log, environment=environment, hold_fd=hold_fd)
