"""Traffic of a run on the wire, beside its journal: append-only JSON Lines, counts to be summed;
and the dataset made from it, one row a thing seen.

A header, then lines with counts as they come in; a killed run loses the counts of the last seconds,
which it had not handed over. The journal shows whether a run is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.conformance.dataset import RUN, TARGET, RunDataset, RunRows, Schema
from harness.conformance.headed_lines import (
    HeadedLines,
    HeadedLinesError,
    HeadedLinesWriter,
)

WIRE_VERSION = 1
VERSION = ("wire_version", WIRE_VERSION)
WIRE_NAME = "wire.jsonl"
DIRECTIONS: Final = ("request", "response")
WHATS: Final = ("message", "error", "default", "other", "null", "empty", "unknown_tag")


class WireError(HeadedLinesError):
    """A file of counts breaks its own rules; the message says which file, which line and what."""


class WireRow(NamedTuple):
    """One thing that was seen; the columns of the dataset, without run, target and count."""

    direction: str
    api_key: int
    api_name: str
    api_version: int
    what: str
    field: str
    error_code: int | None
    error_name: str | None


@dataclass(frozen=True, slots=True)
class WireCounts:
    """The content of a file, summed."""

    run: str
    target: str
    counts: dict[WireRow, int]


class WireWriter:
    """Appends counts; FileExistsError when the file is already there."""

    def __init__(self, path: Path, run: str, target: str) -> None:
        self._lines = HeadedLinesWriter(path, VERSION, run, target)

    def add(self, counts: Iterable[Sequence[Any]]) -> None:
        """Append rows of :class:`WireRow`'s columns and a count each."""
        rows = [list(row) for row in counts]
        if rows:
            self._lines.write([{"type": "counts", "rows": rows}])

    def close(self) -> None:
        """Twice is fine."""
        self._lines.close()


def read_wire(path: Path) -> WireCounts:
    """Read a file that may have been cut off at any byte.

    Raises:
        WireError: anything else than a cut end is wrong.
        OSError: it cannot be read.
    """
    lines = HeadedLines(path, VERSION, WireError)
    counts: Counter[WireRow] = Counter()
    for values, where in lines:
        rows = values.get("rows")
        if values.get("type") != "counts" or not isinstance(rows, list):
            raise WireError(f"{where}: is no line of counts")
        for row in rows:
            key, count = _row(row, where)
            counts[key] += count
    return WireCounts(lines.run, lines.target, dict(counts))


def _row(values: Any, where: str) -> tuple[WireRow, int]:
    width = len(WireRow._fields) + 1
    if not isinstance(values, list) or len(values) != width:
        raise WireError(f"{where}: a row has {width} values, not {values!r}")
    row, count = WireRow(*values[:-1]), values[-1]
    whole = (row.api_key, row.api_version, count)
    texts = (row.api_name, row.field)
    if (
        row.direction not in DIRECTIONS
        or row.what not in WHATS
        or any(type(number) is not int for number in whole)
        or any(not isinstance(text, str) for text in texts)
        or type(row.error_code) not in (int, type(None))
        or type(row.error_name) not in (str, type(None))
    ):
        raise WireError(f"{where}: a row that cannot be: {values!r}")
    return row, count


_WHAT_MEANS: Final = (
    "message; error: an error code in a field so called; default or other: the field's value "
    "against its default; null or empty, counted beside these; unknown_tag: the struct had "
    "tagged fields that its definition does not know"
)
_COLUMNS: Final = (
    RUN,
    TARGET,
    ("direction", "string", False, "request (we sent it) or response (we received and decoded it)"),
    ("api_key", "int32", False, "API key"),
    ("api_name", "string", False, "name of the API"),
    ("api_version", "int32", False, "version of the message"),
    ("what", "string", False, _WHAT_MEANS),
    ("field", "string", False, "path as topics.partitions.error_code; empty: the message itself"),
    ("error_code", "int32", True, "for error: the code"),
    ("error_name", "string", True, "for error: its name; null: Kafka has no such code"),
    ("count", "int64", False, "how often; of an array only the first elements are looked at"),
)
WIRE_SCHEMA: Final = Schema(b"kafka_conformance.wire_schema_version", "1", _COLUMNS)


def _read(path: Path) -> RunRows:
    """The rows of a file, sorted."""
    found = read_wire(path)
    order = sorted(found.counts, key=lambda row: (*row[:6], row.error_code or 0))
    about = {"run": found.run, "target": found.target}
    rows = [{**about, **row._asdict(), "count": found.counts[row]} for row in order]
    return RunRows(found.run, rows)


WIRE: Final = RunDataset(
    name="wire", file=WIRE_NAME, schema=WIRE_SCHEMA, read=_read, wrong=WireError
)
