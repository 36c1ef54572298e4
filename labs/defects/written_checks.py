"""The checks in the journal of a run that has not ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

FAILING = ("failed", "warning")
"""The verdicts of a check that notices a wrong broker."""


def checks_in(journal: Path) -> Iterator[dict[str, str]]:
    """Yield the checks of a journal that may still grow; a line that is cut is left out."""
    if not journal.exists():
        return
    for line in journal.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            found = json.loads(line)
            if found.get("type") == "check":
                yield found


def has_failed(journal: Path) -> bool:
    """True if a check in the journal has failed."""
    return any(one["verdict"] in FAILING for one in checks_in(journal))
