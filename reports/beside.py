"""Data beside the results: coverage seen on the wire, faults, histories, defect tables.

Each of them may be missing; a file that exists must have the form that docs/results.md publishes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .arrow import pa, pq
from .dataset import Dataset
from .errors import ReportError
from .verdicts import BY_NAME

DEFECTS_FOLDER: Final = "defects"
DEFECTS_VERSION: Final = 1
_SQL_TYPES: Final = {"string": "STRING", "int32": "INT", "int64": "BIGINT", "double": "DOUBLE"}
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


@dataclass(frozen=True)
class ReportedDataset:
    """Parquet files of one kind, as `name`/run=RUN/*.parquet beside the results.

    `columns`: name and type in Arrow; `words`: what it is, in a sentence.
    """

    name: str
    words: str
    version_key: bytes
    version: str
    columns: tuple[tuple[str, str], ...]

    def files(self, datasets: Iterable[Dataset]) -> list[Path]:
        """Those of these runs, each checked for its columns; of copies of a run the first.

        Raises ReportError when a file is unreadable or of another form.
        """
        folders: dict[str, Path] = {}
        for dataset in datasets:
            for folder in sorted((dataset.home / self.name).glob("run=*")):
                folders.setdefault(folder.name, folder)
        files = [
            part
            for folder in folders.values()
            for part in sorted(folder.glob("*.parquet"))
            if part.name[0] not in "._"
        ]
        for file in files:
            self._check(file)
        return files

    @property
    def ddl(self) -> str:
        """The columns as Spark's DDL string."""
        return ", ".join(f"`{name}` {_SQL_TYPES[kind]}" for name, kind in self.columns)

    def _check(self, file: Path) -> None:
        advice = f"leave the folder {self.name}/ out, or judge the target again with this release"
        try:
            schema = pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            what = f"not a readable Parquet file: {reason}"
            raise ReportError(what, str(file), advice) from error
        stated = (schema.metadata or {}).get(self.version_key, b"").decode("utf-8", "replace")
        if stated != self.version:
            raise ReportError(
                f"{self.words} has schema version {stated or '(not stated)'}, "
                f"this report reads version {self.version}",
                str(file),
                advice,
            )
        found = {field.name: str(field.type) for field in schema}
        for name, kind in self.columns:
            said = found.get(name, "missing")
            if said != kind:
                what = f"column {name!r} of {self.words} is {said}, expected {kind}"
                raise ReportError(what, str(file), advice)


WIRE: Final = ReportedDataset(
    "wire",
    "the wire coverage",
    b"kafka_conformance.wire_schema_version",
    "1",
    (
        ("run", "string"),
        ("target", "string"),
        ("direction", "string"),
        ("api_key", "int32"),
        ("api_name", "string"),
        ("api_version", "int32"),
        ("what", "string"),
        ("field", "string"),
        ("error_code", "int32"),
        ("error_name", "string"),
        ("count", "int64"),
    ),
)
FAULTS: Final = ReportedDataset(
    "faults",
    "the fault journal",
    b"kafka_conformance.faults_schema_version",
    "1",
    (
        ("run", "string"),
        ("target", "string"),
        ("case", "string"),
        ("attempt", "int32"),
        ("ordinal", "int32"),
        ("at_ms", "double"),
        ("what", "string"),
        ("link", "string"),
        ("connection", "int32"),
        ("direction", "string"),
        ("frame", "int32"),
        ("rule", "string"),
        ("detail", "string"),
    ),
)
HISTORIES: Final = ReportedDataset(
    "histories",
    "the history of clients",
    b"kafka_conformance.history_schema_version",
    "1",
    (
        ("run", "string"),
        ("target", "string"),
        ("case", "string"),
        ("attempt", "int32"),
        ("ordinal", "int32"),
        ("at_ms", "double"),
        ("process", "string"),
        ("outcome", "string"),
        ("action", "string"),
        ("partition", "int32"),
        ("offset", "int64"),
        ("value", "string"),
        ("detail", "string"),
    ),
)


def defect_tables(datasets: Iterable[Dataset]) -> list[dict[str, Any]]:
    """The defect tables beside these runs, as `kafka-conformance lab defects` writes them.

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
    raise ReportError(what, str(file), "remove it, or make it again: kafka-conformance lab defects")


def _require(values: dict[str, Any], shape: dict[str, Any], what: str) -> None:
    for name, kind in shape.items():
        if name not in values or not isinstance(values[name], kind):
            raise TypeError(f"{what} has no fitting {name!r}")
