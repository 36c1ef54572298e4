"""From the lines of runs to Parquet, for every dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.conformance.arrow import Table, has_metadata, pa, write_whole
from harness.conformance.dataset import RunDataset, RunRows, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """The result of `ensure_parquet`.

    Attributes:
        written: files made or made again.
        kept: files that were up to date.
        unreadable: (lines, why) of runs that left nothing to convert.
    """

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...]


def arrow_schema(schema: Schema) -> Any:
    """Column descriptions stand in each field's metadata under ``description``."""
    fields = [
        pa.field(name, pa.type_for_alias(kind), nullable=nullable, metadata={"description": means})
        for name, kind, nullable, means in schema.columns
    ]
    return pa.schema(fields, metadata={schema.version_key: schema.version.encode()})


def to_table(schema: Schema, found: RunRows) -> Table:
    """The rows of one run in the published schema; other values of a row are left out."""
    rows = list(found.rows)
    columns = {name: [row[name] for row in rows] for name in schema.names}
    made = arrow_schema(schema)
    return pa.table(columns, schema=made.with_metadata({**made.metadata, **found.about}))


def write_parquet(dataset: RunDataset, found: RunRows, out_dir: Path) -> Path:
    """Write one run's file: whole or not at all. Raises OSError: the folder cannot be written."""
    path = dataset.part_path(out_dir, found.run)
    write_whole(to_table(dataset.schema, found), path)
    return path


def ensure_parquet(dataset: RunDataset, out_dir: Path) -> Conversion:
    """Convert the lines of every run below ``out_dir/runs`` with absent or older Parquet.

    Parquet of another schema version is made again. A second run changes nothing. A run that died
    before its header has nothing to convert; it is listed as unreadable.

    Raises:
        OSError: a file cannot be read or written.
    """
    written: list[Path] = []
    kept: list[Path] = []
    unreadable: list[tuple[Path, str]] = []
    for path in dataset.files(out_dir):
        changed_ns = path.stat().st_mtime_ns if path.exists() else 0
        part = dataset.part_path(out_dir, path.parent.name)
        if not dataset.required and _is_current(dataset.schema, part, changed_ns):
            kept.append(part)
            continue
        try:
            found = dataset.read(path)
        except dataset.wrong as error:
            unreadable.append((path, str(error)))
            continue
        part = dataset.part_path(out_dir, found.run)
        if _is_current(dataset.schema, part, changed_ns):
            kept.append(part)
        else:
            written.append(write_parquet(dataset, found, out_dir))
    return Conversion(written=tuple(written), kept=tuple(kept), unreadable=tuple(unreadable))


def _is_current(schema: Schema, part: Path, changed_ns: int) -> bool:
    if not part.exists() or part.stat().st_mtime_ns <= changed_ns:
        return False
    return has_metadata(part, schema.version_key, schema.version)
