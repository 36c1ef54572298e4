"""The page of a target: the run that counts, counts by area, failures, what was not judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..matrix import AreaCount, Cell, Matrix, MatrixRow
from ..totals import Total, totals
from ..verdicts import QUIET, WORST_FIRST, VerdictWord
from ..wording import incomplete_warnings, note_words
from .addresses import target_page
from .given import SiteGiven
from .render import SitePages, word_of

_RANKS: Final = {word.name: rank for rank, word in enumerate(WORST_FIRST)}


@dataclass(frozen=True)
class ShownFailure:
    """A requirement that needs a look, with its first reason."""

    row: MatrixRow
    verdict: VerdictWord
    unstable: bool
    reason: str


def write_target_pages(pages: SitePages, matrix: Matrix, given: SiteGiven) -> None:
    """Write the page of each target."""
    for total in totals(matrix):
        target = total.target
        pages.page(
            target_page(target),
            "target.html",
            title=target,
            target=target,
            total=total,
            run=matrix.counted_runs.get(target),
            older=[run for run in matrix.runs if run.target == target and not run.counts],
            warnings=[said for said in incomplete_warnings(matrix) if _is_about(said, target)],
            areas=_areas(matrix.areas, target, given),
            failures=failures(matrix, target),
            groups=not_judged(total),
            command_words=given.commands.get(target),
            steps=given.steps.get(target, ()),
            sarif=target in given.sarif,
        )


def _is_about(warning: str, target: str) -> bool:
    return f" of {target} is incomplete" in warning


def _areas(
    areas: Iterable[AreaCount], target: str, given: SiteGiven
) -> list[tuple[AreaCount, str, list[tuple[VerdictWord, int]]]]:
    """Each area with its title and its verdicts, the worst first."""
    return [
        (
            area,
            given.areas.get(area.area, area.area),
            [(word, area.counts[word.name]) for word in WORST_FIRST if area.counts[word.name]],
        )
        for area in areas
        if area.target == target and area.level is None
    ]


def failures(matrix: Matrix, target: str) -> list[ShownFailure]:
    """The requirements that need a look on a target, the worst first."""
    found = [
        (row, cell)
        for row in matrix.rows
        if (cell := row.cells.get(target)) is not None and cell.verdict not in QUIET
    ]
    found.sort(key=lambda one: _RANKS[one[1].verdict])
    return [
        ShownFailure(row, word_of(cell.verdict), cell.unstable, _reason(cell))
        for row, cell in found
    ]


def _reason(cell: Cell) -> str:
    notes = (note for part in cell.parts for note in part.notes if note.verdict == cell.verdict)
    return next(filter(None, map(note_words, notes)), "")


def not_judged(total: Total) -> list[tuple[str, str, tuple[str, ...]]]:
    """Reason, remedy and ids of each group that the run did not judge."""
    return [(group.why, group.remedy, group.requirements) for group in total.not_judged]
