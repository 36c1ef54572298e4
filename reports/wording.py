"""Short words that Markdown and HTML share: version ranges, folded parts, what is incomplete."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from .matrix import Cell, CellPart, Matrix, MatrixRun, Note
from .verdicts import QUIET


@dataclass(frozen=True)
class FoldedParts:
    """Parts that say the same, as one line: a case and the API versions it was judged at."""

    case: str
    versions: str
    verdict: str
    attempts: int
    unstable: bool
    notes: tuple[Note, ...]


def fold(cell: Cell) -> list[FoldedParts]:
    """The parts of a cell in their order, those that say the same folded into one.

    Parts fold when verdict, notes and case are equal. Of parts that need no attention, cases that
    differ only in their parameters (`[...]`) fold too.
    """
    groups: dict[tuple[object, ...], list[CellPart]] = {}
    for part in cell.parts:
        case = part.case.partition("[")[0] if part.verdict in QUIET else part.case
        key = (case, part.verdict, part.attempts, part.unstable, part.notes)
        groups.setdefault(key, []).append(part)
    return [
        FoldedParts(
            case=parts[0].case if len(parts) == 1 else parts[0].case.partition("[")[0],
            versions=version_ranges(part.api_version for part in parts),
            verdict=parts[0].verdict,
            attempts=parts[0].attempts,
            unstable=parts[0].unstable,
            notes=parts[0].notes,
        )
        for parts in groups.values()
    ]


def version_ranges(versions: Iterable[int | None]) -> str:
    """`v0–v3, v5` for 0, 1, 2, 3 and 5; empty when no part is about a version."""
    known = sorted({version for version in versions if version is not None})
    ranges: list[list[int]] = []
    for version in known:
        if ranges and ranges[-1][1] == version - 1:
            ranges[-1][1] = version
        else:
            ranges.append([version, version])
    return ", ".join(f"v{low}" if low == high else f"v{low}–v{high}" for low, high in ranges)


def note_words(note: Note) -> str:
    """Return the text of a note: subtest, missing capability, reason."""
    missing = f"missing capability: {note.capability_missing}" if note.capability_missing else ""
    of = f"[{note.subtest}]" if note.subtest else ""
    return " · ".join(words for words in (of, missing, note.reason) if words)


def time_words(at: str) -> str:
    """An ISO 8601 time to the second in UTC; what can't be read as one stays as it is."""
    try:
        return f"{datetime.fromisoformat(at).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except ValueError:
        return at


def incomplete_warnings(matrix: Matrix) -> list[str]:
    """One sentence for each run that did not come to its end, those that count first."""
    counted = [
        f"Run {run.run} of {run.target} is incomplete: it did not come to its proper end"
        f"{_planned(run)}. What is missing in this column was not judged."
        for run in matrix.incomplete_runs
        if run.counts
    ]
    superseded = [
        f"Run {run.run} of {run.target} is incomplete; a newer run counts in its place."
        for run in matrix.incomplete_runs
        if not run.counts
    ]
    empty = [
        f"Run {run.run} of {run.target} is incomplete: it ended before its first check."
        for run in matrix.empty_runs
    ]
    return counted + superseded + empty


def _planned(run: MatrixRun) -> str:
    if run.planned_cases is None:
        return ""
    return f" ({run.cases} of {run.planned_cases} planned cases left a check)"


def catalogue_warning(matrix: Matrix) -> str | None:
    """A sentence when the columns were judged by different catalogues of requirements."""
    if len(matrix.catalogue_versions) < 2:
        return None
    return (
        f"The columns were judged by different catalogues ({', '.join(matrix.catalogue_versions)});"
        " each statement is worded as in the newest run."
    )
