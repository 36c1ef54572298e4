"""The dataset of what runs saw on the wire: one row a thing seen, made from ``wire.jsonl``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.conformance.arrow import Table, has_metadata, pa, write_whole
from harness.conformance.wire import WIRE_NAME, WireCounts, WireError, read_wire

WIRE_SCHEMA_VERSION: Final = "1"
WIRE_SCHEMA_VERSION_KEY: Final = b"kafka_conformance.wire_schema_version"
PART_NAME = "part-0.parquet"

WHAT_MEANS: Final = (
    "message; error: an error code in a field so called; default or other: the field's value "
    "against its default; null or empty, counted beside these; unknown_tag: the struct had "
    "tagged fields that its definition does not know"
)

_TEXT = pa.string()
_COLUMNS: Final = (
    ("run", _TEXT, False, "id of the run; also the partition, and written into the file"),
    ("target", _TEXT, False, "what was judged, as given: reference, kafka:4.4.0, ..."),
    ("direction", _TEXT, False, "request (we sent it) or response (we received and decoded it)"),
    ("api_key", pa.int32(), False, "API key"),
    ("api_name", _TEXT, False, "name of the API"),
    ("api_version", pa.int32(), False, "version of the message"),
    ("what", _TEXT, False, WHAT_MEANS),
    ("field", _TEXT, False, "path as topics.partitions.error_code; empty: the message itself"),
    ("error_code", pa.int32(), True, "for error: the code"),
    ("error_name", _TEXT, True, "for error: its name; null: Kafka has no such code"),
    ("count", pa.int64(), False, "how often; of an array only the first elements are looked at"),
)

WIRE_SCHEMA: Final = pa.schema(
    [
        pa.field(name, kind, nullable=nullable, metadata={"description": description})
        for name, kind, nullable, description in _COLUMNS
    ],
    metadata={WIRE_SCHEMA_VERSION_KEY: WIRE_SCHEMA_VERSION.encode()},
)
"""Column descriptions stand in each field's metadata under ``description``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireConversion:
    """What `ensure_wire_parquet` did: files made, files still current, others (why)."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...]


def wire_part_path(out_dir: Path, run: str) -> Path:
    """Where the Parquet file of a run's counts stands."""
    return out_dir / "wire" / f"run={run}" / PART_NAME


def to_wire_table(found: WireCounts) -> Table:
    """The rows of one run, sorted, in the published schema."""
    order = sorted(found.counts, key=lambda row: (*row[:6], row.error_code or 0))
    rows = [
        {"run": found.run, "target": found.target, **row._asdict(), "count": found.counts[row]}
        for row in order
    ]
    columns = {name: [row[name] for row in rows] for name in WIRE_SCHEMA.names}
    return pa.table(columns, schema=WIRE_SCHEMA)


def ensure_wire_parquet(out_dir: Path) -> WireConversion:
    """Convert every ``wire.jsonl`` below ``out_dir/runs`` whose Parquet is absent or older.

    Running it twice changes nothing.

    Raises:
        OSError: a file cannot be read or written.
    """
    written: list[Path] = []
    kept: list[Path] = []
    unreadable: list[tuple[Path, str]] = []
    for path in sorted((out_dir / "runs").glob(f"*/{WIRE_NAME}")):
        part = wire_part_path(out_dir, path.parent.name)
        if _is_current(part, path.stat().st_mtime_ns):
            kept.append(part)
            continue
        try:
            found = read_wire(path)
        except WireError as error:
            unreadable.append((path, str(error)))
            continue
        part = wire_part_path(out_dir, found.run)
        write_whole(to_wire_table(found), part)
        written.append(part)
    return WireConversion(written=tuple(written), kept=tuple(kept), unreadable=tuple(unreadable))


def _is_current(part: Path, changed_ns: int) -> bool:
    if not part.exists() or part.stat().st_mtime_ns <= changed_ns:
        return False
    return has_metadata(part, WIRE_SCHEMA_VERSION_KEY, WIRE_SCHEMA_VERSION)
