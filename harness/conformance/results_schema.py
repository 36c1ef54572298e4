"""The published schema of the results dataset: one row per check.

Readers without this suite rely on the schema. Its version rises with every change that a reader can
see; each file carries it in its metadata under `SCHEMA_VERSION_KEY`.
"""

from __future__ import annotations

from typing import Final

from harness.conformance.arrow import pa

SCHEMA_VERSION: Final = "1"
SCHEMA_VERSION_KEY: Final = b"kafka_conformance.results_schema_version"
RUN_KEY: Final = b"kafka_conformance.run"
"""Metadata: the run's header, plan and footer as one JSON object, so that no file needs its
journal beside it to be understood."""

_TEXT = pa.string()
_NOT_NULL = False
_NULLABLE = True

_COLUMNS: Final = (
    ("run", _TEXT, _NOT_NULL, "id of the run; also the partition, and written into the file"),
    ("suite_version", _TEXT, _NOT_NULL, "version of the suite that judged"),
    ("catalogue_version", _TEXT, _NOT_NULL, "version of the catalogue of requirements"),
    ("seed", pa.int64(), _NOT_NULL, "the run's number, from which all random draws derive"),
    ("target", _TEXT, _NOT_NULL, "what was judged, as given: reference, kafka:4.4.0, ..."),
    ("implementation", _TEXT, _NOT_NULL, "the product behind the target"),
    ("release", _TEXT, _NOT_NULL, "its release"),
    ("requirement", _TEXT, _NOT_NULL, "id of the requirement that the check is for"),
    ("area", _TEXT, _NOT_NULL, "area of the requirement"),
    ("level", _TEXT, _NOT_NULL, "MUST, SHOULD or MAY"),
    ("case", _TEXT, _NOT_NULL, "pytest node id without the folder"),
    ("check", pa.int32(), _NOT_NULL, "ordinal of the check within the case, from 1"),
    ("attempt", pa.int32(), _NOT_NULL, "1, and one more for each retry of the case"),
    ("api_key", pa.int32(), _NULLABLE, "API key that was asked; null: not about one API"),
    ("api_version", pa.int32(), _NULLABLE, "API version that was asked; null: as above"),
    (
        "verdict",
        _TEXT,
        _NOT_NULL,
        "harness_error, failed, inconclusive, warning, passed, not_supported or not_applicable",
    ),
    ("reason", _TEXT, _NOT_NULL, "why it is not simply passed; empty when it is"),
    ("capability_missing", _TEXT, _NULLABLE, "for not_applicable: what the target lacks"),
    ("duration_ms", pa.float64(), _NOT_NULL, "duration of the check in milliseconds"),
    ("evidence", _TEXT, _NULLABLE, "path relative to the run's folder; null: none was kept"),
    ("at", _TEXT, _NOT_NULL, "end of the check, UTC, ISO 8601 with offset"),
    (
        "run_complete",
        pa.bool_(),
        _NOT_NULL,
        "the run wrote its footer and every planned case left its checks; same in all rows",
    ),
)

COLUMN_NAMES: Final = tuple(name for name, *_ in _COLUMNS)

RESULTS_SCHEMA: Final = pa.schema(
    [
        pa.field(name, kind, nullable=nullable, metadata={"description": description})
        for name, kind, nullable, description in _COLUMNS
    ],
    metadata={SCHEMA_VERSION_KEY: SCHEMA_VERSION.encode()},
)
"""Column descriptions stand in each field's metadata under ``description``."""
