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
from harness.log_tools.release_check import check_release, mode_at
from harness.log_tools.release_limits import ReleaseLimits
from harness.log_tools.start_verdict import StartVerdict, start_verdict

Given = LogDirectoryFiles | PartitionFolder


class BrokerCheck:
    """The check of folders and files; all whole log directories among them are of one broker."""

    def __init__(self, given: Sequence[Given], limits: ReleaseLimits | None = None) -> None:
        """Read what concerns all directories. Raises OSError.

        ``limits``: of the release that has to start on them; None for any.
        """
        self._limits, self._seen = limits, list[Finding]()
        self._directories: dict[Path, LogDirectoryFiles] = {}
        for found in given:
            if isinstance(found, LogDirectoryFiles) and found.is_whole:
                self._directories.setdefault(found.path.resolve(), found)
        directories = list(self._directories.values())
        self._broker = read_broker_folders(directories)
        self._between = list(_between(self._broker, limits)) if directories else []

    def findings(self, found: Given) -> Iterator[Finding]:
        """Yield the problems in one of the given, then those with the others. Raises OSError."""
        for finding in self._all(found):
            self._seen.append(finding)
            yield finding

    def _all(self, found: Given) -> Iterator[Finding]:
        yield from check_log(found, self._limits)
        if self._directories.get(found.path.resolve()) is found:
            for finding in self._between:
                if finding.file.is_relative_to(found.path):
                    yield finding

    def verdict(self) -> StartVerdict | None:
        """Return the start by what was found so far; None without a release or a directory."""
        if self._limits is None or not self._directories:
            return None
        return start_verdict(self._seen, self._limits, mode_at(self._broker, self._limits))


def _between(broker: BrokerFolders, limits: ReleaseLimits | None) -> Iterator[Finding]:
    yield from check_identities(broker)
    yield from check_folders(broker)
    yield from check_assignments(broker)
    if limits is not None:
        yield from check_release(broker, limits)
