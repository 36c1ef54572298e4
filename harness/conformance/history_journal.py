"""What clients did in the tests of a run, beside its journal: append-only JSON Lines.

A header, then a line for each operation, in the order of each case's attempt. The file is there
when a test kept a history; a killed run loses those of the tests that had not ended.
"""

from __future__ import annotations

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

HISTORY_VERSION = 1
VERSION = ("history_version", HISTORY_VERSION)
HISTORY_NAME = "history.jsonl"
OUTCOMES: Final = ("invoke", "ok", "fail", "info")


class HistoryJournalError(HeadedLinesError):
    """The file breaks its own rules; the message says which file, which line and what."""


class HistoryRow(NamedTuple):
    """One operation; the columns of the dataset, without run and target.

    ``ordinal``: in its case's attempt, from 0. The rest as :class:`harness.histories.history`
    has it, None where nobody said.
    """

    case: str
    attempt: int
    ordinal: int
    at_ms: float
    process: str
    outcome: str
    action: str
    partition: int | None
    offset: int | None
    value: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class HistoryJournal:
    """What a file holds, in its order."""

    run: str
    target: str
    rows: tuple[HistoryRow, ...]


class HistoryWriter:
    """Appends operations; FileExistsError when the file is already there."""

    def __init__(self, path: Path, run: str, target: str) -> None:
        self._lines = HeadedLinesWriter(path, VERSION, run, target)

    def add(self, operations: Iterable[Mapping[str, Any]]) -> None:
        """Append operations: the fields of :class:`HistoryRow` that say something, no ordinal."""
        self._lines.write([{"type": "operation", **operation} for operation in operations])

    def close(self) -> None:
        """Twice is fine."""
        self._lines.close()


def read_history_journal(path: Path) -> HistoryJournal:
    """Read a file that may have been cut off at any byte.

    Raises:
        HistoryJournalError: anything else than a cut end is wrong.
        OSError: it cannot be read.
    """
    lines = HeadedLines(path, VERSION, HistoryJournalError)
    seen: Counter[tuple[str, int]] = Counter()
    rows = []
    for values, where in lines:
        row = _row(values, where)
        rows.append(row._replace(ordinal=seen[row.case, row.attempt]))
        seen[row.case, row.attempt] += 1
    return HistoryJournal(lines.run, lines.target, tuple(rows))


_FIELDS: Final = {
    "case": LineField((str,), "a text"),
    "attempt": LineField((int,), "a whole number"),
    "at_ms": LineField((int, float), "a number"),
    "process": LineField((str,), "a text"),
    "outcome": LineField((str,), f"one of {', '.join(OUTCOMES)}", OUTCOMES),
    "action": LineField((str,), "a text"),
    "partition": LineField((int, NOTHING), "a whole number"),
    "offset": LineField((int, NOTHING), "a whole number", size="long"),
    "value": LineField((str, NOTHING), "a text"),
    "detail": LineField((str, NOTHING), "a text"),
}


def _row(values: dict[str, Any], where: str) -> HistoryRow:
    if values.pop("type", None) != "operation":
        raise HistoryJournalError(f"{where}: is no line of an operation")
    check_fields(values, _FIELDS, where, HistoryJournalError)
    given = {**dict.fromkeys(_FIELDS), **values, "ordinal": 0}
    return HistoryRow(**given | {"at_ms": float(values["at_ms"])})
