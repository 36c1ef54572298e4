"""What was done on the way to the broker, beside a run's journal: append-only JSON Lines.

A header, then a line for each event of a proxy, in the order of each case's attempt. The file is
there when a fault was injected, or a rule for one was armed; a killed run loses the events of the
tests that had not ended. That a run is whole, its journal says.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.conformance.headed_lines import (
    HeadedLines,
    HeadedLinesError,
    HeadedLinesWriter,
)
from harness.conformance.typed_line import NOTHING, LineField, check_fields

FAULTS_VERSION = 1
VERSION = ("faults_version", FAULTS_VERSION)
FAULTS_NAME = "faults.jsonl"
DIRECTIONS: Final = ("upstream", "downstream")


class FaultJournalError(HeadedLinesError):
    """A journal breaks its own rules; the message says which file, which line and what."""


class FaultRow(NamedTuple):
    """One event; the columns of the dataset, without run and target.

    ``ordinal``: of the event in its case's attempt, from 0. ``detail`` is JSON text.
    """

    case: str
    attempt: int
    ordinal: int
    at_ms: float
    what: str
    link: str | None
    connection: int | None
    direction: str | None
    frame: int | None
    rule: str | None
    detail: str


@dataclass(frozen=True, slots=True)
class FaultJournal:
    """What a file holds, in its order."""

    run: str
    target: str
    rows: tuple[FaultRow, ...]


class FaultWriter:
    """Appends events; FileExistsError when the file is already there."""

    def __init__(self, path: Path, run: str, target: str) -> None:
        self._lines = HeadedLinesWriter(path, VERSION, run, target)

    def add(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Append events: the fields of :class:`FaultRow` that say something, ``detail`` an object.

        The ordinal is left to the reader.
        """
        self._lines.write([{"type": "fault", **event} for event in events])

    def close(self) -> None:
        """Twice is fine."""
        self._lines.close()


def read_fault_journal(path: Path) -> FaultJournal:
    """Read a file that may have been cut off at any byte.

    Raises:
        FaultJournalError: anything else than a cut end is wrong.
        OSError: it cannot be read.
    """
    lines = HeadedLines(path, VERSION, FaultJournalError)
    seen: Counter[tuple[str, int]] = Counter()
    rows = []
    for values, where in lines:
        row = _row(values, where)
        rows.append(row._replace(ordinal=seen[row.case, row.attempt]))
        seen[row.case, row.attempt] += 1
    return FaultJournal(lines.run, lines.target, tuple(rows))


_FIELDS: Final = {
    "case": LineField((str,), "a text"),
    "attempt": LineField((int,), "a whole number"),
    "at_ms": LineField((int, float), "a number"),
    "what": LineField((str,), "a text"),
    "link": LineField((str, NOTHING), "a text"),
    "connection": LineField((int, NOTHING), "a whole number"),
    "direction": LineField((str, NOTHING), f"one of {', '.join(DIRECTIONS)}", DIRECTIONS),
    "frame": LineField((int, NOTHING), "a whole number"),
    "rule": LineField((str, NOTHING), "a text"),
    "detail": LineField((dict, NOTHING), "an object"),
}


def _row(values: dict[str, Any], where: str) -> FaultRow:
    if values.pop("type", None) != "fault":
        raise FaultJournalError(f"{where}: is no line of a fault")
    check_fields(values, _FIELDS, where, FaultJournalError)
    detail = json.dumps(values.get("detail") or {}, sort_keys=True)
    given = {**dict.fromkeys(_FIELDS), **values, "detail": detail, "ordinal": 0}
    return FaultRow(**given | {"at_ms": float(values["at_ms"])})
