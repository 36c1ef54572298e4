"""A check of all log directories of one broker: each alone, then the files that must fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.codec.data_framing.log_folder import LogDirectoryFiles, PartitionFolder
from harness.log_tools.assignment_check import check_assignments
from harness.log_tools.broker_folders import BrokerFolders, read_broker_folders
from harness.log_tools.findings import Finding
from harness.log_tools.folders_check import check_folders
from harness.log_tools.identity_check import check_identities
from harness.log_tools.log_check import check_log

Given = LogDirectoryFiles | PartitionFolder


class BrokerCheck:
    """The check of folders and files; all whole log directories among them are of one broker."""

    def __init__(self, given: Sequence[Given]) -> None:
        """Read what concerns all directories. Raises OSError."""
        self._directories: dict[Path, LogDirectoryFiles] = {}
        for found in given:
            if isinstance(found, LogDirectoryFiles) and found.is_whole:
                self._directories.setdefault(found.path.resolve(), found)
        directories = list(self._directories.values())
        self._between = list(_between(read_broker_folders(directories))) if directories else []

    def findings(self, found: Given) -> Iterator[Finding]:
        """Yield the problems in one of the given, then those with the others. Raises OSError."""
        yield from check_log(found)
        if self._directories.get(found.path.resolve()) is found:
            for finding in self._between:
                if finding.file.is_relative_to(found.path):
                    yield finding


def _between(broker: BrokerFolders) -> Iterator[Finding]:
    yield from check_identities(broker)
    yield from check_folders(broker)
    yield from check_assignments(broker)
