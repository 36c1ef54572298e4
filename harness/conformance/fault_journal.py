"""The journal of faults between clients and the broker, and in a cluster: JSON Lines.

It lies beside a run's journal and has a line for each event of a proxy or of a node. It exists when
a fault was injected, or a rule for one was armed.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from harness.conformance.case_lines import NOTHING, CaseLineForm, LineField
from harness.conformance.dataset import ATTEMPT, CASE, RUN, TARGET, Schema
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

_WHATS = (
    "armed, disarmed: a rule; fired: a rule or a toxic did it; skipped: a rule would have, but "
    "could not; released: what a rule kept went on; cut, healed, reset, enabled, disabled: the "
    "link; toxic_added, toxic_updated, toxic_removed; error: a rule raised one; "
    "killed, paused, resumed, stop_begun, stop_done, restart_begun, restart_done: a node, named in "
    "detail; lost: so many events before were too many to keep"
)
_COLUMNS: Final = (
    RUN,
    TARGET,
    CASE,
    ATTEMPT,
    ("ordinal", "int32", False, "of the event in its attempt, from 0"),
    (
        "at_ms",
        "double",
        False,
        "milliseconds since the test asked for faults, or began with its cluster",
    ),
    ("what", "string", False, _WHATS),
    ("link", "string", True, "source->destination; null: not about one"),
    ("connection", "int32", True, "ordinal on its link, from 0; null: not about one"),
    (
        "direction",
        "string",
        True,
        "upstream (requests) or downstream (responses); null: both or none",
    ),
    ("frame", "int32", True, "ordinal in its direction of the connection, from 0; null: none"),
    ("rule", "string", True, "id of the rule or name of the toxic; null: none"),
    ("detail", "string", False, "what else is known, a JSON object: action, api, version, ..."),
)
FAULTS_SCHEMA: Final = Schema(b"kafka_conformance.faults_schema_version", "1", _COLUMNS)
FAULTS: Final = FAULT_LINES.dataset("faults", FAULTS_NAME, FAULTS_SCHEMA)
