"""Which cases of a run have begun, for a program that watches the run: a file beside the journal.

The journal has a case when it has ended; a case that begins is a line here.
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
        """This case begins now."""
        self._file.write(json.dumps(BegunCase(case, time.time())) + "\n")

    def close(self) -> None:
        """The run has ended: the file goes. Twice is fine."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def read_begun(line: bytes) -> BegunCase:
    """One line of the file."""
    return BegunCase(*json.loads(line))
