"""The file beside the journal that lists the cases of a run that have begun.

It is for programs that watch a run. The journal contains a case when it has ended; this file
contains a line for each case that has begun.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import NamedTuple

BEGUN_NAME = "begun.jsonl"
"""In the run's folder, as long as the run lasts."""


class BegunCase(NamedTuple):
    """A case, and when it began, in seconds since the epoch."""

    case: str
    at_s: float


class BegunWriter:
    """Appends a line for each case that begins."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / BEGUN_NAME
        self._file = self._path.open("w", encoding="utf-8", buffering=1)

    def add(self, case: str) -> None:
        """Append a line for a case that begins now."""
        self._file.write(json.dumps(BegunCase(case, time.time())) + "\n")

    def close(self) -> None:
        """Remove the file at the end of the run. Twice is fine."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def read_begun(line: bytes) -> BegunCase:
    """Read one line of the file."""
    return BegunCase(*json.loads(line))
