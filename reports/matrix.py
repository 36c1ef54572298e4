"""The matrix as plain values: what every rendering is made from. Read from Spark's own output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from .api_matrix import ApiVersion, api_versions
from .arrow import pq
from .dataset import ResultFile
from .defect_matrix import DefectRow, defect_rows
from .fault_timelines import FaultTimeline, timelines
from .headlines import ReportedHeadline
from .histories import History, histories
from .joined_columns import JoinedColumn
from .mutant_matrix import ReportedMutants
from .verdicts import LEVELS, WORST_FIRST, worst
from .wire_matrix import SeenOnWire, seen_on_the_wire


@dataclass(frozen=True)
class Note:
    """The text of one or more checks of a part beside their verdict; empty strings: no text.

    ``subtest``: the specimen of the check that it is about.
    """

    verdict: str
    reason: str
    capability_missing: str
    evidence: str
    subtest: str = ""


@dataclass(frozen=True)
class CellPart:
    """One case at one API version (None: not about a version), all its attempts joined."""

    case: str
    api_version: int | None
    verdict: str
    checks: int
    attempts: int
    unstable: bool
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Cell:
    """One requirement on one target."""

    verdict: str
    checks: int
    unstable: bool
    parts: tuple[CellPart, ...]
    duration_ms: float = 0.0


@dataclass(frozen=True)
class MatrixRow:
    """One requirement; `cells` by target, a target that has no check of it is not in there."""

    id: str
    area: str
    level: str
    statement: str
    cells: Mapping[str, Cell]

    def verdict(self, targets: Iterable[str]) -> str | None:
        """Return the worst verdict of these targets; None where none of them has a check.

        What one target cannot show stands behind what another one shows.
        """
        own = [self.cells[target].verdict for target in targets if target in self.cells]
        return worst(own) if own else None


@dataclass(frozen=True)
class AreaCount:
    """Requirements per verdict of one area on one target; `level` None is the whole area."""

    area: str
    target: str
    level: str | None
    verdict: str
    requirements: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class MatrixRun:
    """The properties of one run with one target; `counts` if the target's column is from it."""

    run: str
    target: str
    counts: bool
    run_complete: bool
    implementation: str
    release: str
    suite_version: str
    catalogue_version: str
    seed: int | None
    first_check_at: str
    last_check_at: str
    checks: int
    cases: int
    requirements: int
    retried_checks: int
    planned_cases: int | None = None


@dataclass(frozen=True)
class EmptyRun:
    """A run that ended before its first check."""

    run: str
    target: str


@dataclass(frozen=True)
class Matrix:
    """Everything that a page says. `empty_runs` left no check; a target may have no other run.

    `apis`, `wire`, `faults`, `histories` and `defects` are empty where nothing was recorded.
    `evidence` holds what was found of the files that notes name, by run and path; `observed` what
    other runs of Kafka's releases say of requirements; `mutants` the published score of the suites;
    `headlines`, by run, what of the catalogue it judged; `joined`: columns that are shown as one.
    """

    targets: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    areas: tuple[AreaCount, ...]
    runs: tuple[MatrixRun, ...]
    empty_runs: tuple[EmptyRun, ...] = ()
    apis: tuple[ApiVersion, ...] = ()
    wire: tuple[SeenOnWire, ...] = ()
    faults: tuple[FaultTimeline, ...] = ()
    histories: tuple[History, ...] = ()
    defects: tuple[DefectRow, ...] = ()
    evidence: Mapping[tuple[str, str], str] = field(default_factory=dict)
    observed: Mapping[str, str] = field(default_factory=dict)
    mutants: tuple[ReportedMutants, ...] = ()
    headlines: Mapping[str, ReportedHeadline] = field(default_factory=dict)
    joined: tuple[JoinedColumn, ...] = ()

    @property
    def wire_missing(self) -> tuple[str, ...]:
        """The targets with a counted run that left no coverage from the wire."""
        recorded = {seen.target for seen in self.wire}
        return tuple(target for target in self.targets if target not in recorded)

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """By name, the targets of each column; a joined one stands where its first target would."""
        joined = {target: column for column in self.joined for target in column.targets}
        return {
            column.name if column else target: column.targets if column else (target,)
            for target in self.targets
            if (column := joined.get(target)) is None or column.targets[0] == target
        }

    @property
    def counted_runs(self) -> dict[str, MatrixRun]:
        """The run of each target's column."""
        return {run.target: run for run in self.runs if run.counts}

    @property
    def incomplete_runs(self) -> tuple[MatrixRun, ...]:
        return tuple(run for run in self.runs if not run.run_complete)

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Ids of all runs without an end, counted or not, sorted."""
        return tuple(
            sorted({run.run for run in self.incomplete_runs} | {run.run for run in self.empty_runs})
        )

    @property
    def catalogue_versions(self) -> tuple[str, ...]:
        """Of the runs that count; more than one means that columns were judged by other words."""
        return tuple(sorted({run.catalogue_version for run in self.counted_runs.values()}))


TABLES: Final = (
    *("runs", "requirements", "areas", "api_versions"),
    *("wire", "faults", "histories", "defects"),
)
"""The tables that a matrix is made from. Spark makes them in this order: each may name the tables
before it."""


def read_matrix(folder: Path, found: Iterable[ResultFile] = ()) -> Matrix:
    """The matrix from the Parquet folders that Spark wrote into `folder`: see `matrix_of`."""
    return matrix_of({name: read_table(folder / f"{name}.parquet") for name in TABLES}, found)


def matrix_of(
    tables: Mapping[str, list[dict[str, Any]]], found: Iterable[ResultFile] = ()
) -> Matrix:
    """The matrix from the rows of `TABLES`, evidence left out.

    `found` are the result files that it was made from: they know plans, and runs without a check.
    """
    files = list(found)
    planned = {(file.run, file.target): file.planned_cases for file in files}
    runs = [
        MatrixRun(**row, planned_cases=planned.get((row["run"], row["target"])))
        for row in tables["runs"]
    ]
    empty = {EmptyRun(file.run, file.target) for file in files if file.rows == 0}
    targets = {run.target for run in runs} | {run.target for run in empty}
    return Matrix(
        targets=tuple(sorted(targets, key=product_and_release)),
        rows=_rows(tables["requirements"]),
        areas=_areas(tables["areas"]),
        runs=tuple(sorted(runs, key=lambda run: (run.target, not run.counts))),
        empty_runs=tuple(sorted(empty, key=lambda run: (run.target, run.run))),
        apis=api_versions(tables["api_versions"]),
        wire=seen_on_the_wire(tables["wire"]),
        faults=timelines(tables["faults"]),
        histories=histories(tables["histories"]),
        defects=defect_rows(tables["defects"]),
    )


def product_and_release(target: str) -> tuple[tuple[int, int, str], ...]:
    """The order of columns: numbers in a name count as numbers, so that 0.8 stands before 0.10."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", target)
        if part
    )


def read_table(folder: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet folder that Spark wrote, in the order in which it sorted them."""
    files = sorted(folder.glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def _rows(table: list[dict[str, Any]]) -> tuple[MatrixRow, ...]:
    cells: dict[str, dict[str, Cell]] = {}
    words: dict[str, dict[str, Any]] = {}
    for row in table:
        words[row["requirement"]] = row
        cells.setdefault(row["requirement"], {})[row["target"]] = _cell(row)
    rows = (
        MatrixRow(name, said["area"], said["level"], said["statement"], cells[name])
        for name, said in words.items()
    )
    return tuple(sorted(rows, key=lambda row: (row.area, row.id)))


def _cell(row: Mapping[str, Any]) -> Cell:
    parts = (
        CellPart(**{**part, "notes": tuple(_note(note) for note in part["notes"])})
        for part in row["parts"]
    )
    return Cell(row["verdict"], row["checks"], row["unstable"], tuple(parts), row["duration_ms"])


def _note(note: Mapping[str, Any]) -> Note:
    names = ("verdict", "reason", "capability_missing", "evidence", "subtest")
    return Note(*(note[name] for name in names))


def _areas(table: list[dict[str, Any]]) -> tuple[AreaCount, ...]:
    names = [word.name for word in WORST_FIRST]
    areas = (
        AreaCount(
            row["area"],
            row["target"],
            row["level"],
            row["verdict"],
            row["requirements"],
            {name: row[name] for name in names},
        )
        for row in table
    )
    return tuple(sorted(areas, key=_area_order))


def _area_order(area: AreaCount) -> tuple[str, str, int, str]:
    level = area.level or ""
    known = LEVELS.index(level) + 1 if level in LEVELS else (0 if area.level is None else 9)
    return (area.area, area.target, known, level)
