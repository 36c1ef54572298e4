"""Histories beside a run's journal: what workloads saw while a cluster was harmed, as JSON Lines.

A header, then a line an operation: the fields of :class:`harness.histories.history.Operation` that
say something, with ``case`` and ``attempt``. Operations of one attempt stand together, in their
order. The file is there when a test had a workload.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.conformance.headed_lines import HeadedLinesWriter

HISTORY_VERSION = 1
VERSION = ("history_version", HISTORY_VERSION)
HISTORY_NAME = "history.jsonl"


class HistoryWriter:
    """Appends operations; FileExistsError when the file is already there."""

    def __init__(self, path: Path, run: str, target: str) -> None:
        self._lines = HeadedLinesWriter(path, VERSION, run, target)

    def add(self, operations: Iterable[Mapping[str, Any]]) -> None:
        """Append those of one attempt of a case."""
        self._lines.write([{"type": "operation", **one} for one in operations])

    def close(self) -> None:
        """Twice is fine."""
        self._lines.close()
