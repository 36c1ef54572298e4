"""The dataset of faults: one row an event of a proxy, made from ``faults.jsonl``."""

from __future__ import annotations

from typing import Final

from harness.conformance.arrow import pa
from harness.conformance.beside_parquet import case_dataset, described_schema
from harness.conformance.fault_journal import FAULT_LINES, FAULTS_NAME

FAULTS_SCHEMA_VERSION: Final = "1"
FAULTS_SCHEMA_VERSION_KEY: Final = b"kafka_conformance.faults_schema_version"

_WHATS = (
    "armed, disarmed: a rule; fired: a rule or a toxic did it; skipped: a rule would have, but "
    "could not; released: what a rule kept went on; cut, healed, reset, enabled, disabled: the "
    "link; toxic_added, toxic_updated, toxic_removed; error: a rule raised one; "
    "killed, paused, resumed, stop_begun, stop_done, restart_begun, restart_done: a node, named in "
    "detail; lost: so many events before were too many to keep"
)
_TEXT = pa.string()
_COLUMNS: Final = (
    ("run", _TEXT, False, "id of the run; also the partition, and written into the file"),
    ("target", _TEXT, False, "what was judged, as given: reference, kafka:4.4.0, ..."),
    ("case", _TEXT, False, "pytest node id without the folder"),
    ("attempt", pa.int32(), False, "1, and one more for each retry of the case"),
    ("ordinal", pa.int32(), False, "of the event in its attempt, from 0"),
    (
        "at_ms",
        pa.float64(),
        False,
        "milliseconds since the test asked for faults, or began with its cluster",
    ),
    ("what", _TEXT, False, _WHATS),
    ("link", _TEXT, True, "source->destination; null: not about one"),
    ("connection", pa.int32(), True, "ordinal on its link, from 0; null: not about one"),
    ("direction", _TEXT, True, "upstream (requests) or downstream (responses); null: both or none"),
    ("frame", pa.int32(), True, "ordinal in its direction of the connection, from 0; null: none"),
    ("rule", _TEXT, True, "id of the rule or name of the toxic; null: none"),
    ("detail", _TEXT, False, "what else is known, a JSON object: action, api, version, ..."),
)
FAULTS_SCHEMA: Final = described_schema(_COLUMNS, FAULTS_SCHEMA_VERSION_KEY, FAULTS_SCHEMA_VERSION)
FAULTS: Final = case_dataset(
    "faults",
    FAULT_LINES,
    FAULTS_NAME,
    FAULTS_SCHEMA,
    (FAULTS_SCHEMA_VERSION_KEY, FAULTS_SCHEMA_VERSION),
)
