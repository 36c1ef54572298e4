"""Failed directories: the controller must learn of each in time, or the broker ends.

Source: KIP-858 (log.dir.failure.timeout.ms); class BrokerLifecycleManager.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from uuid import UUID

from harness.reference_broker.storage.log_directories import LogDirectories


class DirectoryFailures:
    """Failed directories, with a timer for each until the controller has heard of it.

    Until then the partitions in a failed directory get no other leader.
    """

    def __init__(self, logs: LogDirectories, timeout_ms: int) -> None:
        self._logs, self._timeout_ms = logs, timeout_ms
        self._told: set[UUID] = set()
        self._awaited: set[UUID] = set()

    def noticed(self) -> None:
        """Start the timer of each newly failed directory."""
        for directory in {*self._logs.failed_ids()} - self._told - self._awaited:
            self._awaited.add(directory)
            loop = asyncio.get_running_loop()
            loop.call_later(self._timeout_ms / 1000, self._time_is_over, directory)

    def told(self, directories: Iterable[UUID]) -> None:
        """Note that the controller has answered a heartbeat with these directories."""
        self._told.update(directories)

    def _time_is_over(self, directory: UUID) -> None:
        if directory not in self._told:
            self._logs.give_up(
                f"no controller received it within {self._timeout_ms} ms"
                f" (log.dir.failure.timeout.ms) that the log directory {directory} has failed"
            )
