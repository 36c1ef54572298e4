"""The journal of faults between clients and the broker, and in a cluster: JSON Lines.

It lies beside a run's journal and has a line for each event of a proxy or of a node. It exists when
a fault was injected, or a rule for one was armed.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from harness.conformance.case_lines import NOTHING, CaseLineForm, LineField
from harness.conformance.headed_lines import HeadedLinesError

FAULTS_VERSION = 1
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


def _row(values: dict[str, Any], ordinal: int) -> FaultRow:
    detail = json.dumps(values["detail"] or {}, sort_keys=True)
    return FaultRow(**values | {"detail": detail, "ordinal": ordinal})


FAULT_LINES: Final = CaseLineForm(
    "fault",
    ("faults_version", FAULTS_VERSION),
    {
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
    },
    _row,
    FaultJournalError,
)
