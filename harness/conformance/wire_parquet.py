"""The dataset of what runs saw on the wire: one row a thing seen, made from ``wire.jsonl``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.conformance.arrow import Table, pa
from harness.conformance.beside_parquet import BesideDataset, described_schema
from harness.conformance.wire import WIRE_NAME, WireCounts, WireError, read_wire

WIRE_SCHEMA_VERSION: Final = "1"
WIRE_SCHEMA_VERSION_KEY: Final = b"kafka_conformance.wire_schema_version"

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

WIRE_SCHEMA: Final = described_schema(_COLUMNS, WIRE_SCHEMA_VERSION_KEY, WIRE_SCHEMA_VERSION)


def to_wire_table(found: WireCounts) -> Table:
    """The rows of one run, sorted, in the published schema."""
    order = sorted(found.counts, key=lambda row: (*row[:6], row.error_code or 0))
    rows = [
        {"run": found.run, "target": found.target, **row._asdict(), "count": found.counts[row]}
        for row in order
    ]
    columns = {name: [row[name] for row in rows] for name in WIRE_SCHEMA.names}
    return pa.table(columns, schema=WIRE_SCHEMA)


def _read(path: Path) -> tuple[str, Table]:
    found = read_wire(path)
    return found.run, to_wire_table(found)


WIRE: Final = BesideDataset(
    "wire", WIRE_NAME, WIRE_SCHEMA_VERSION_KEY, WIRE_SCHEMA_VERSION, _read, WireError
)
