"""The clients' operations in the tests of a run, beside its journal: JSON Lines.

It has a line for each operation and exists when a test kept a history.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from harness.conformance.case_lines import NOTHING, CaseLineForm, LineField
from harness.conformance.dataset import ATTEMPT, CASE, RUN, TARGET, Schema
from harness.conformance.headed_lines import HeadedLinesError

HISTORY_VERSION = 1
HISTORY_NAME = "history.jsonl"
OUTCOMES: Final = ("invoke", "ok", "fail", "info")


class HistoryJournalError(HeadedLinesError):
    """The file breaks its own rules; the message says which file, which line and what."""


class HistoryRow(NamedTuple):
    """One operation; the columns of the dataset, without run and target.

    ``ordinal``: in its case's attempt, from 0. The rest as in :class:`harness.histories.history`;
    None where it is unknown.
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


def _row(values: dict[str, Any], ordinal: int) -> HistoryRow:
    return HistoryRow(**values, ordinal=ordinal)


HISTORY_LINES: Final = CaseLineForm(
    "operation",
    ("history_version", HISTORY_VERSION),
    {
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
    },
    _row,
    HistoryJournalError,
)

_ACTIONS = (
    "send: a record, by its value; poll: one that a consumer received; end: the end of a "
    "partition, as reported; finish: a process has done its part; final_read: a record as it "
    "stands in the log when all is over; fault: what was done to brokers and links"
)
_OUTCOMES = "invoke: it begins; ok: surely done; fail: surely not; info: unknown"
_COLUMNS: Final = (
    RUN,
    TARGET,
    CASE,
    ATTEMPT,
    ("ordinal", "int32", False, "of the operation in its attempt, from 0"),
    ("at_ms", "double", False, "milliseconds since the test began, as in its faults"),
    (
        "process",
        "string",
        False,
        "the process: producer, reader, ...; nemesis, for faults",
    ),
    ("outcome", "string", False, _OUTCOMES),
    ("action", "string", False, _ACTIONS),
    ("partition", "int32", True, "null: not about one"),
    ("offset", "int64", True, "null: unknown"),
    ("value", "string", True, "the record's; null: not about one"),
    ("detail", "string", True, "what happened, in words; null: nothing more is known"),
)
HISTORY_SCHEMA: Final = Schema(b"kafka_conformance.history_schema_version", "1", _COLUMNS)
HISTORIES: Final = HISTORY_LINES.dataset("histories", HISTORY_NAME, HISTORY_SCHEMA)
