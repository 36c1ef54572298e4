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


_NOTHING: Final = type(None)
_FIELDS: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "case": ((str,), "a text"),
    "attempt": ((int,), "a whole number"),
    "at_ms": ((int, float), "a number"),
    "what": ((str,), "a text"),
    "link": ((str, _NOTHING), "a text"),
    "connection": ((int, _NOTHING), "a whole number"),
    "direction": ((str, _NOTHING), f"one of {', '.join(DIRECTIONS)}"),
    "frame": ((int, _NOTHING), "a whole number"),
    "rule": ((str, _NOTHING), "a text"),
    "detail": ((dict, _NOTHING), "an object"),
}


def _row(values: dict[str, Any], where: str) -> FaultRow:
    if values.pop("type", None) != "fault":
        raise FaultJournalError(f"{where}: is no line of a fault")
    for name in values.keys() - _FIELDS.keys():
        raise FaultJournalError(f'{where}: no field is called "{name}"')
    for name, (kinds, words) in _FIELDS.items():
        value = values.get(name)
        strange = name == "direction" and value not in (*DIRECTIONS, None)
        strange |= type(value) is int and not 0 <= value < 2**31
        if type(value) not in kinds or strange:
            raise FaultJournalError(f"{where}: {name} must be {words}, not {value!r}")
    detail = json.dumps(values.get("detail") or {}, sort_keys=True)
    given = {**dict.fromkeys(_FIELDS), **values, "detail": detail, "ordinal": 0}
    return FaultRow(**given | {"at_ms": float(values["at_ms"])})
