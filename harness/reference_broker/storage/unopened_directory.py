"""A log directory that failed before its logs were known.

Source: KIP-112; class LogManager (``createAndValidateLogDirs``; ``getOrCreateLog`` does not create
the log of a known partition while a directory is offline: it may be there).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.reference_broker.state.log.log_store import DescribedLog, LogName, OpenedLog, Place
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.storage.failed_log import failed_log
from harness.reference_broker.storage.open_files import OpenFiles


class UnopenedDirectory:
    """The failed directory among the others of a node.

    While the node starts, each log that is in no other directory counts as being here.
    """

    def __init__(self, path: Path, failure: OSError) -> None:
        self.path, self.failure = path.absolute(), failure
        self.is_starting = True
        self._files = OpenFiles()
        self._logs: set[LogName] = set()

    def knew(self, name: LogName) -> bool:
        """True if the log may be here; called when no other directory has it."""
        if self.is_starting:
            self._logs.add(name)
        return name in self._logs

    def open_failed(self, producers: ProducerStates) -> OpenedLog:
        """Return a log that stands for one in this directory."""
        return failed_log(self.path, self._files, producers)

    def described(self) -> Mapping[Place, DescribedLog]:
        """Return nothing, since its logs are not known."""
        return {}

    def close(self, *, broker_epoch: int | None) -> None:
        """Do nothing: there are no files to close."""
