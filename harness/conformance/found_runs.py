"""Finding the runs of an output folder, from their journals or, without them, their Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.conformance.journal import (
    JOURNAL_NAME,
    NOT_STARTED_NAME,
    Journal,
    JournalError,
    journals_in,
    read_journal,
)


class ResultsNotFound(ValueError):
    """There is no such folder, or it is not one of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRuns:
    """The content of an output folder.

    Attributes:
        runs: all readable runs, the oldest first.
        unreadable: (file, why) of runs that left nothing readable.
    """

    runs: tuple[Journal, ...]
    unreadable: tuple[tuple[Path, str], ...]

    def newest_by_target(self) -> dict[str, Journal]:
        """The run that counts for each target: the one started last, complete or not."""
        return {run.header.target: run for run in self.runs}


def find_runs(results: Path) -> FoundRuns:
    """Read all runs below an output folder (``runs/``, ``results/``) or a bare ``results/``.

    A run is read from its journal; where only its Parquet file was kept, from that.

    Raises:
        ResultsNotFound: no such folder, or neither runs nor results in it.
        OSError: a file cannot be read.
    """
    if not results.is_dir():
        raise ResultsNotFound(f"{results}: there is no such folder")
    parts = [
        part
        for pattern in ("results/run=*/*.parquet", "run=*/*.parquet")
        for part in sorted(results.glob(pattern))
    ]
    if not parts and not any((results / name).is_dir() for name in ("runs", "results")):
        raise ResultsNotFound(
            f"{results}: holds neither runs/ nor results/; give the folder that `run --out` wrote"
        )
    found: dict[str, Journal] = {}
    unreadable: list[tuple[Path, str]] = []
    in_parquet = {_run_of(part) for part in parts}
    for path in journals_in(results):
        if not path.exists() and path.parent.name in in_parquet:
            continue
        try:
            journal = read_journal(path)
        except JournalError as error:
            unreadable.append((path, _why_unreadable(path, error)))
            continue
        if journal.header.run in found:
            unreadable.append((path, f"{path}: run {journal.header.run} is there twice"))
        found[journal.header.run] = journal
    _add_from_parquet([p for p in parts if _run_of(p) not in found], found, unreadable)
    return FoundRuns(
        runs=tuple(sorted(found.values(), key=lambda run: run.order)), unreadable=tuple(unreadable)
    )


def read_runs(place: Path) -> tuple[Journal, ...]:
    """The runs of an output folder, or the one of a run's own folder, the oldest first.

    A run's own folder is ``OUT/runs/RUN`` with its journal, or ``OUT/results/run=RUN``.

    Raises:
        ResultsNotFound: no such folder, not one of ours, no run in it, or one that cannot be read.
        OSError: a file cannot be read.
    """
    if (place / JOURNAL_NAME).is_file():
        try:
            return (read_journal(place / JOURNAL_NAME),)
        except JournalError as error:
            raise ResultsNotFound(str(error)) from error
    is_part = place.is_dir() and place.name.startswith("run=")
    found = _found_in_parts(sorted(place.glob("*.parquet"))) if is_part else find_runs(place)
    if found.unreadable:
        raise ResultsNotFound(
            f"{found.unreadable[0][1]}; take it away, or give the folder of one run"
        )
    if not found.runs:
        raise ResultsNotFound(f"{place}: there is no run in it")
    return found.runs


def _found_in_parts(parts: list[Path]) -> FoundRuns:
    found: dict[str, Journal] = {}
    unreadable: list[tuple[Path, str]] = []
    _add_from_parquet(parts, found, unreadable)
    return FoundRuns(runs=tuple(found.values()), unreadable=tuple(unreadable))


def _add_from_parquet(
    parts: list[Path], found: dict[str, Journal], unreadable: list[tuple[Path, str]]
) -> None:
    if not parts:
        return
    from harness.conformance.results import ResultsError, read_results  # slow to import

    for path in parts:
        try:
            found[_run_of(path)] = read_results(path)
        except ResultsError as error:
            unreadable.append((path, str(error)))


def _why_unreadable(journal: Path, error: JournalError) -> str:
    note = journal.with_name(NOT_STARTED_NAME)
    if journal.exists() or not note.exists():
        return str(error)
    return f"{journal.parent}: the target did not start: {note.read_text('utf-8')}"


def _run_of(part: Path) -> str:
    return part.parent.name.removeprefix("run=")
