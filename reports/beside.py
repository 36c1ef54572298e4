"""What may lie beside the results of a run: coverage seen on the wire, and defect tables.

Neither must be there; what is there must be of the form that docs/results.md publishes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from .arrow import pa, pq
from .dataset import Dataset
from .errors import ReportError
from .verdicts import BY_NAME

WIRE_FOLDER: Final = "wire"
WIRE_VERSION: Final = "1"
WIRE_VERSION_KEY: Final = b"kafka_conformance.wire_schema_version"
DEFECTS_FOLDER: Final = "defects"
DEFECTS_VERSION: Final = 1
# Name and type in Arrow and in Spark's SQL.
WIRE_COLUMNS: Final = (
    ("run", "string", "STRING"),
    ("target", "string", "STRING"),
    ("direction", "string", "STRING"),
    ("api_key", "int32", "INT"),
    ("api_name", "string", "STRING"),
    ("api_version", "int32", "INT"),
    ("what", "string", "STRING"),
    ("field", "string", "STRING"),
    ("error_code", "int32", "INT"),
    ("error_name", "string", "STRING"),
    ("count", "int64", "BIGINT"),
)
_CHANGED: Final = {"requirement": str, "was": (str, type(None)), "now": (str, type(None))}
_DEFECT: Final = {
    "requirement": str,
    "defect": str,
    "meaning": str,
    "killed": bool,
    "reason": str,
    "problem": str,
    "changed": list,
}
_TABLE: Final = {
    "target": str,
    "at": str,
    "complete": bool,
    "defects": list,
    "unproved": list,
}


def wire_files(datasets: Iterable[Dataset]) -> list[Path]:
    """The Parquet files of the wire coverage of these runs, each checked for its columns.

    Raises ReportError when a file is unreadable or of another form.
    """
    files = [
        part
        for dataset in datasets
        for folder in sorted((dataset.home / WIRE_FOLDER).glob("run=*"))
        for part in sorted(folder.glob("*.parquet"))
        if part.name[0] not in "._"
    ]
    for file in files:
        _check_wire(file)
    return files


def wire_ddl() -> str:
    """The columns of the wire coverage as Spark's DDL string."""
    return ", ".join(f"`{name}` {sql_type}" for name, _, sql_type in WIRE_COLUMNS)


def _check_wire(file: Path) -> None:
    advice = "leave the folder wire/ out, or judge the target again with this release"
    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ReportError(f"not a readable Parquet file: {reason}", str(file), advice) from error
    stated = (schema.metadata or {}).get(WIRE_VERSION_KEY, b"").decode("utf-8", "replace")
    if stated != WIRE_VERSION:
        raise ReportError(
            f"the wire coverage has schema version {stated or '(not stated)'}, "
            f"this report reads version {WIRE_VERSION}",
            str(file),
            advice,
        )
    found = {field.name: str(field.type) for field in schema}
    for name, arrow_type, _ in WIRE_COLUMNS:
        if found.get(name) != arrow_type:
            said = found.get(name, "missing")
            raise ReportError(
                f"column {name!r} of the wire coverage is {said}, expected {arrow_type}",
                str(file),
                advice,
            )


def defect_tables(datasets: Iterable[Dataset]) -> list[dict[str, Any]]:
    """The defect tables beside these runs, as `python -m tests.defects` writes them.

    Raises ReportError when a file is no JSON, or of another form or version.
    """
    homes = dict.fromkeys(dataset.home for dataset in datasets)
    return [
        _defect_table(file)
        for home in homes
        for file in sorted((home / DEFECTS_FOLDER).glob("*.json"))
    ]


def _defect_table(file: Path) -> dict[str, Any]:
    try:
        table: Any = json.loads(file.read_text("utf-8"))
        stated = table.get("schema_version")
        if stated == DEFECTS_VERSION:
            _require(table, _TABLE, "the table")
            for row in table["defects"]:
                _require(row, _DEFECT, "a defect")
                for change in row["changed"]:
                    _require(change, _CHANGED, "a changed verdict")
                    if not {change["was"], change["now"]} <= {*BY_NAME, None}:
                        raise TypeError(f"no such verdict in {change}")
            return dict(table)
        what = f"the defect table has schema version {stated}, this report reads {DEFECTS_VERSION}"
    except (OSError, ValueError, AttributeError, TypeError) as error:
        what = f"not a readable defect table: {error}"
    raise ReportError(what, str(file), "remove it, or make it again: python -m tests.defects")


def _require(values: dict[str, Any], shape: dict[str, Any], what: str) -> None:
    for name, kind in shape.items():
        if name not in values or not isinstance(values[name], kind):
            raise TypeError(f"{what} has no fitting {name!r}")
