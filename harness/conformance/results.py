"""The dataset of results: one row a check, made from the journal, and read back.

Readers without this suite rely on the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harness.conformance.arrow import Table, pa, pq
from harness.conformance.dataset import ATTEMPT, CASE, RUN, TARGET, RunDataset, RunRows, Schema
from harness.conformance.journal import JOURNAL_NAME, Journal, JournalError, read_journal
from harness.conformance.record import (
    CHECK_SHAPE,
    CheckRecord,
    Footer,
    PlannedCase,
    RecordError,
    RunHeader,
)
from harness.conformance.summary import summarize

RUN_KEY: Final = b"kafka_conformance.run"
"""Metadata: the run's header, plan and footer as one JSON object, so that no file needs its
journal beside it to be understood."""

_NOT_NULL = False
_NULLABLE = True

_COLUMNS: Final = (
    RUN,
    ("suite_version", "string", _NOT_NULL, "version of the suite that judged"),
    ("catalogue_version", "string", _NOT_NULL, "version of the catalogue of requirements"),
    ("seed", "int64", _NOT_NULL, "the run's number, from which all random draws derive"),
    TARGET,
    ("implementation", "string", _NOT_NULL, "the product behind the target"),
    ("release", "string", _NOT_NULL, "its release"),
    ("requirement", "string", _NOT_NULL, "id of the requirement that the check is for"),
    ("area", "string", _NOT_NULL, "area of the requirement"),
    ("level", "string", _NOT_NULL, "MUST, SHOULD or MAY"),
    CASE,
    ("check", "int32", _NOT_NULL, "ordinal of the check within the case, from 1"),
    (
        "subtest",
        "string",
        _NULLABLE,
        "name of the specimen, of several of one check, that was judged; null: the whole check",
    ),
    ATTEMPT,
    ("api_key", "int32", _NULLABLE, "API key that was asked; null: not about one API"),
    ("api_version", "int32", _NULLABLE, "API version that was asked; null: as above"),
    (
        "verdict",
        "string",
        _NOT_NULL,
        "harness_error, failed, inconclusive, warning, passed, not_supported or not_applicable",
    ),
    ("reason", "string", _NOT_NULL, "why it is not simply passed; empty when it is"),
    ("capability_missing", "string", _NULLABLE, "for not_applicable: what the target lacks"),
    ("duration_ms", "double", _NOT_NULL, "duration of the check in milliseconds"),
    ("evidence", "string", _NULLABLE, "path relative to the run's folder; null: none was kept"),
    ("at", "string", _NOT_NULL, "end of the check, UTC, ISO 8601 with offset"),
    (
        "run_complete",
        "bool",
        _NOT_NULL,
        "the run wrote its footer and every planned case left its checks; same in all rows",
    ),
)

SCHEMA: Final = Schema(b"kafka_conformance.results_schema_version", "2", _COLUMNS)
OLDER_VERSIONS: Final = ("1",)
"""Versions that are still read: 1 has no column ``subtest``."""


class ResultsError(ValueError):
    """A results file is not ours or not whole; the message says which and why."""


def results_of(journal: Journal) -> RunRows:
    """The rows of one run, with the run itself in the metadata."""
    about = {
        "header": journal.header.to_json(),
        "plan": [case.to_json() for case in journal.plan],
        "footer": None if journal.footer is None else journal.footer.to_json(),
        "torn_line": journal.torn_line,
    }
    said = json.dumps(about, ensure_ascii=False).encode()
    return RunRows(journal.header.run, _rows(journal), {RUN_KEY: said})


def _rows(journal: Journal) -> Iterator[Mapping[str, Any]]:
    constants = {
        **journal.header.run_fields(),
        "run_complete": summarize(journal).complete,
    }
    yield from ({**constants, **check.to_json()} for check in journal.checks)


RESULTS: Final = RunDataset(
    name="results",
    file=JOURNAL_NAME,
    schema=SCHEMA,
    read=lambda path: results_of(read_journal(path)),
    wrong=JournalError,
    required=True,
)


def read_results(path: Path) -> Journal:
    """Read one run back from its Parquet file: exactly what its journal said.

    Raises:
        ResultsError: no Parquet, not ours, or of another schema version.
    """
    try:
        with path.open("rb") as file:
            table = pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: is not a readable Parquet file: {error}") from error
    metadata = table.schema.metadata or {}
    version = metadata.get(SCHEMA.version_key, b"").decode(errors="replace")
    if version not in (SCHEMA.version, *OLDER_VERSIONS):
        raise ResultsError(
            f'{path}: has results schema version "{version}", this reader knows {SCHEMA.version};'
            " make it again from the run's journal"
        )
    try:
        return _from_table(table, json.loads(metadata[RUN_KEY]))
    except (KeyError, ValueError) as error:
        raise ResultsError(f"{path}: does not hold a run of ours: {error}") from error


def _from_table(table: Table, about: dict[str, object]) -> Journal:
    plan = about["plan"]
    torn_line = about["torn_line"]
    if not isinstance(plan, list) or not (torn_line is None or isinstance(torn_line, int)):
        raise RecordError("the run's metadata has not the right form")
    columns = [name for name in CHECK_SHAPE if name in table.column_names]
    rows = table.select(columns).to_pylist()
    return Journal(
        header=RunHeader.from_json(about["header"]),
        plan=tuple(PlannedCase.from_json(case) for case in plan),
        checks=tuple(CheckRecord.from_json(row) for row in rows),
        footer=None if about["footer"] is None else Footer.from_json(about["footer"]),
        torn_line=torn_line,
    )
