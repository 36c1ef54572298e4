"""`releases.parquet` and `changes.parquet`: the published tables, their schema and its version."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ..arrow import pa, pq
from .history import Archaeology, ReleaseCell, ReleaseColumn, RequirementHistory, VerdictChange

SCHEMA_VERSION: Final = "1"
SCHEMA_VERSION_KEY: Final = b"kafka_conformance.archaeology_schema_version"

_REQUIREMENT: Final = (
    ("requirement", pa.string(), "id of the requirement"),
    ("area", pa.string(), "its area"),
    ("level", pa.string(), "MUST, SHOULD or MAY"),
    ("since", pa.string(), "first release that keeps it, by the catalogue; -: no date"),
    ("until", pa.string(), "last release series that keeps it; null: it still holds"),
)
RELEASES: Final = (
    *_REQUIREMENT,
    ("release", pa.string(), "release of Apache Kafka"),
    ("mode", pa.string(), "zk or kraft"),
    ("column", pa.int32(), "place of release and mode in their order, from 0"),
    ("targets", pa.list_(pa.string()), "targets that were judged, as given"),
    ("runs", pa.list_(pa.string()), "the runs that counted, the newest of each target"),
    ("run_complete", pa.bool_(), "all these runs came to their end"),
    ("verdict", pa.string(), "the seven verdicts, joined worst first; or not_run"),
    ("state", pa.string(), "holds, broken, absent or open"),
    ("promised", pa.bool_(), "the catalogue's dates promise it; null: no date"),
    ("agreement", pa.string(), "contradicts, noted, known_bug, agrees or unknown"),
    ("reasons", pa.list_(pa.string()), "up to three reasons of the verdict"),
    ("known_bug", pa.string(), "ticket of the bug that explains it; null: none"),
)
CHANGES: Final = (
    *_REQUIREMENT,
    ("before", pa.string(), "the last release that did the one"),
    ("after", pa.string(), "the first release that does the other"),
    ("mode", pa.string(), "mode of the first release that does the other"),
    ("was", pa.string(), "holds, broken or absent"),
    ("now", pa.string(), "holds, broken or absent"),
    ("agreement", pa.string(), "contradicts, noted, known_bug, agrees or unknown"),
)
NULLABLE: Final = frozenset({"until", "promised", "known_bug"})


def schema(columns: tuple[tuple[str, Any, str], ...]) -> Any:
    """The Arrow schema; each description stands in the field's metadata."""
    fields = [
        pa.field(name, kind, nullable=name in NULLABLE, metadata={"description": said})
        for name, kind, said in columns
    ]
    return pa.schema(fields, metadata={SCHEMA_VERSION_KEY: SCHEMA_VERSION.encode()})


def write_tables(found: Archaeology, folder: Path) -> None:
    """Both tables as files in `folder`, sorted as the rows are."""
    releases = [
        {**_about(row), **_cell(cell, found.columns[at], at)}
        for row in found.rows
        for at, cell in enumerate(row.cells)
    ]
    changes = [
        {**_about(row), **_change(change, found.columns)}
        for row in found.rows
        for change in row.changes
    ]
    for name, columns, rows in (("releases", RELEASES, releases), ("changes", CHANGES, changes)):
        table = pa.Table.from_pylist(rows, schema=schema(columns))
        pq.write_table(table, folder / f"{name}.parquet")


def _about(row: RequirementHistory) -> Mapping[str, Any]:
    promise = row.promise
    return {
        "requirement": row.id,
        "area": promise.area,
        "level": promise.level,
        "since": promise.since,
        "until": promise.until,
    }


def _cell(cell: ReleaseCell, column: ReleaseColumn, at: int) -> Mapping[str, Any]:
    return {
        "release": column.release,
        "mode": column.mode,
        "column": at,
        "targets": list(column.targets),
        "runs": list(column.runs),
        "run_complete": column.complete,
        "verdict": cell.verdict,
        "state": cell.state.value,
        "promised": cell.promised,
        "agreement": cell.agreement.value,
        "reasons": list(cell.reasons),
        "known_bug": cell.bug.link if cell.bug else None,
    }


def _change(change: VerdictChange, columns: tuple[ReleaseColumn, ...]) -> Mapping[str, Any]:
    return {
        "before": columns[change.before].release,
        "after": columns[change.after].release,
        "mode": columns[change.after].mode,
        "was": change.was.value,
        "now": change.now.value,
        "agreement": change.agreement.value,
    }
