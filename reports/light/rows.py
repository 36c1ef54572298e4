"""Rows of results as dictionaries: reading, the runs that count, and Spark's order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..arrow import pq

Row = dict[str, Any]


def read_rows(files: Iterable[Path], columns: Sequence[str]) -> list[Row]:
    """Read these columns; one that a file lacks is null, as Spark reads it."""
    rows: list[Row] = []
    for file in files:
        with pq.ParquetFile(file) as parquet:
            there = [name for name in columns if name in parquet.schema_arrow.names]
            missing = dict.fromkeys(set(columns) - set(there))
            rows += [missing | row for row in parquet.read(columns=there).to_pylist()]
    return rows


def instant(row: Row) -> datetime:
    """The moment of a row, for comparisons."""
    return datetime.fromisoformat(row["at"])


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    """The rows by their values in these columns, in the order in which these come first."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in columns)].append(row)
    return groups


def of_runs(rows: Iterable[Row], counts: Collection[tuple[str, str]]) -> list[Row]:
    """The rows of the runs that count, given as target and run."""
    return [row for row in rows if (row["target"], row["run"]) in counts]


def by(*columns: str) -> Callable[[Row], tuple[Any, ...]]:
    """A sort key: these columns in turn, null before every value."""

    def key(row: Row) -> tuple[Any, ...]:
        return tuple((row[name] is not None, row[name]) for name in columns)

    return key


def greatest(rows: Iterable[Row], column: str) -> Any:
    """The greatest value that is not null; None if all are."""
    return max((row[column] for row in rows if row[column] is not None), default=None)
