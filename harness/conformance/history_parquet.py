"""The dataset of histories: one row an operation of a client, made from ``history.jsonl``."""

from __future__ import annotations

from typing import Final

from harness.conformance.arrow import pa
from harness.conformance.beside_parquet import case_dataset, described_schema
from harness.conformance.history_journal import HISTORY_LINES, HISTORY_NAME

HISTORY_SCHEMA_VERSION: Final = "1"
HISTORY_SCHEMA_VERSION_KEY: Final = b"kafka_conformance.history_schema_version"

_ACTIONS = (
    "send: a record, by its value; poll: one that a consumer was given; end: where a partition was "
    "told to end; finish: a process has done its part; final_read: a record as it stands in the "
    "log when all is over; fault: what was done to brokers and links"
)
_OUTCOMES = "invoke: it begins; ok: surely done; fail: surely not; info: nobody knows"
_TEXT = pa.string()
_COLUMNS: Final = (
    ("run", _TEXT, False, "id of the run; also the partition, and written into the file"),
    ("target", _TEXT, False, "what was judged, as given: reference, kafka:4.4.0, ..."),
    ("case", _TEXT, False, "pytest node id without the folder"),
    ("attempt", pa.int32(), False, "1, and one more for each retry of the case"),
    ("ordinal", pa.int32(), False, "of the operation in its attempt, from 0"),
    ("at_ms", pa.float64(), False, "milliseconds since the test began, as in its faults"),
    ("process", _TEXT, False, "who did it: producer, reader, ...; nemesis, who does harm"),
    ("outcome", _TEXT, False, _OUTCOMES),
    ("action", _TEXT, False, _ACTIONS),
    ("partition", pa.int32(), True, "null: not about one"),
    ("offset", pa.int64(), True, "null: nobody said"),
    ("value", _TEXT, True, "the record's; null: not about one"),
    ("detail", _TEXT, True, "what happened, in words; null: nothing more is known"),
)
HISTORY_SCHEMA: Final = described_schema(
    _COLUMNS, HISTORY_SCHEMA_VERSION_KEY, HISTORY_SCHEMA_VERSION
)
HISTORIES: Final = case_dataset(
    "histories",
    HISTORY_LINES,
    HISTORY_NAME,
    HISTORY_SCHEMA,
    (HISTORY_SCHEMA_VERSION_KEY, HISTORY_SCHEMA_VERSION),
)
