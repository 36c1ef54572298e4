"""`matrix.json`: the matrix for other programs, of the form that `matrix.schema.json` publishes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from .api_matrix import ApiVersion
from .defect_matrix import DefectRow
from .fault_timelines import FaultTimeline
from .histories import History
from .joined_columns import JoinedColumn
from .matrix import CellPart, Matrix, MatrixRow
from .totals import totals
from .wire_matrix import SeenOnWire

SCHEMA_FILE: Final = Path(__file__).parent / "matrix.schema.json"
# Rises with every change that a reader can see.
SCHEMA_VERSION: Final = 8


def matrix_json(matrix: Matrix) -> str:
    """The matrix as JSON text; the same matrix always gives the same bytes."""
    document = {
        "$schema": SCHEMA_FILE.name,
        "schema_version": SCHEMA_VERSION,
        "targets": list(matrix.targets),
        "incomplete": list(matrix.incomplete),
        "requirements": [_requirement(row) for row in matrix.rows],
        "headlines": {
            one.target: asdict(one.headline) for one in totals(matrix) if one.headline is not None
        },
        "joined": [_joined(column, matrix) for column in matrix.joined],
        "areas": [asdict(area) for area in matrix.areas],
        "runs": [asdict(run) for run in matrix.runs],
        "api_versions": _api_versions(matrix),
        "wire": [_seen(seen) for seen in matrix.wire],
        "wire_missing": list(matrix.wire_missing),
        "faults": [_timeline(one) for one in matrix.faults],
        "histories": [_history(one) for one in matrix.histories],
        "defects": [_defect(row) for row in matrix.defects],
        "mutants": [asdict(one) for one in matrix.mutants],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _requirement(row: MatrixRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "area": row.area,
        "level": row.level,
        "statement": row.statement,
        "verdicts": {target: cell.verdict for target, cell in row.cells.items()},
        "parts": {
            target: [_part(part) for part in cell.parts] for target, cell in row.cells.items()
        },
    }


def _joined(column: JoinedColumn, matrix: Matrix) -> dict[str, Any]:
    verdicts = {row.id: row.verdict(column.targets) for row in matrix.rows}
    return {
        "name": column.name,
        "targets": list(column.targets),
        "headline": asdict(column.headline),
        "verdicts": {name: verdict for name, verdict in verdicts.items() if verdict},
    }


def _part(part: CellPart) -> dict[str, Any]:
    said: dict[str, Any] = {
        "case": part.case,
        "api_version": part.api_version,
        "verdict": part.verdict,
    }
    if part.notes:
        said["notes"] = [asdict(note) for note in part.notes]
    return said


def _api_versions(matrix: Matrix) -> list[dict[str, Any]]:
    versions: dict[tuple[int, int], dict[str, Any]] = {}
    for api in matrix.apis:
        entry = {
            "api_key": api.api_key,
            "api_name": api.api_name,
            "api_version": api.api_version,
            "targets": {},
        }
        versions.setdefault((api.api_key, api.api_version), entry)["targets"][api.target] = (
            _api_version(api)
        )
    return list(versions.values())


def _api_version(api: ApiVersion) -> dict[str, Any]:
    return {
        "declared": api.declared,
        "observed": api.observed,
        "decodable": api.decodable,
        "behaves": api.behaves,
        "requirements": dict(api.requirements),
    }


def _seen(seen: SeenOnWire) -> dict[str, Any]:
    fields: dict[str, dict[str, int]] = {}
    for one in seen.fields:
        fields.setdefault(one.field, {})[one.what] = one.count
    return {**asdict(seen), "errors": [asdict(e) for e in seen.errors], "fields": fields}


def _timeline(one: FaultTimeline) -> dict[str, Any]:
    events = [{k: v for k, v in asdict(event).items() if v is not None} for event in one.events]
    return {**asdict(one), "events": events}


def _history(one: History) -> dict[str, Any]:
    """Its counts and faults; all operations stand in the Parquet beside the results."""
    said = {name: value for name, value in asdict(one).items() if name not in ("every", "spans")}
    faults = [{"at_ms": span.began_ms, "what": span.detail or ""} for span in one.faults]
    return {**said, "faults": faults}


def _defect(row: DefectRow) -> dict[str, Any]:
    return {**asdict(row), "changed": [asdict(change) for change in row.changed]}
