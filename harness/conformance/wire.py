"""What a run saw on the wire, beside its journal: append-only JSON Lines, counts to be summed.

A header, then lines with counts as they come in; a killed run loses what it had not handed over,
some seconds' worth. That a run is whole, its journal says.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

WIRE_VERSION = 1
WIRE_NAME = "wire.jsonl"
DIRECTIONS: Final = ("request", "response")
WHATS: Final = ("message", "error", "default", "other", "null", "empty", "unknown_tag")


class WireError(ValueError):
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
    """What a file holds, summed."""

    run: str
    target: str
    counts: dict[WireRow, int]


class WireWriter:
    """Appends counts; FileExistsError when the file is already there."""

    def __init__(self, path: Path, run: str, target: str) -> None:
        self._file = path.open("xb", buffering=0)
        self._write({"type": "header", "wire_version": WIRE_VERSION, "run": run, "target": target})

    def add(self, counts: Iterable[Sequence[Any]]) -> None:
        """Append rows of :class:`WireRow`'s columns and a count each."""
        rows = [list(row) for row in counts]
        if rows:
            self._write({"type": "counts", "rows": rows})

    def close(self) -> None:
        """Twice is fine."""
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[self._file.write(data) :]


def read_wire(path: Path) -> WireCounts:
    """Read a file that may have been cut off at any byte.

    Raises:
        WireError: anything else than a cut end is wrong.
        OSError: it cannot be read.
    """
    *lines, _cut = path.read_bytes().split(b"\n")
    if not lines:
        raise WireError(f"{path}: no whole header: the run died before it began")
    header = _parsed(lines[0], f"{path}: line 1")
    if header.get("type") != "header" or header.get("wire_version") != WIRE_VERSION:
        raise WireError(f"{path}: line 1: is no header of version {WIRE_VERSION}")
    run, target = header.get("run"), header.get("target")
    if not isinstance(run, str) or not isinstance(target, str):
        raise WireError(f"{path}: line 1: run and target must be texts")
    counts: Counter[WireRow] = Counter()
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path}: line {number}"
        values = _parsed(line, where)
        rows = values.get("rows")
        if values.get("type") != "counts" or not isinstance(rows, list):
            raise WireError(f"{where}: is no line of counts")
        for row in rows:
            key, count = _row(row, where)
            counts[key] += count
    return WireCounts(run, target, dict(counts))


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise WireError(f"{where}: is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise WireError(f"{where}: is no JSON object")
    return values


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
