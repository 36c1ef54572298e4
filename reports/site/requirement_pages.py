"""The page of a requirement: the entry, its verdict on each target, its tests, its defects."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ..evidence import evidence_path
from ..matrix import Cell, Matrix, MatrixRow, MatrixRun
from ..verdicts import QUIET, VerdictWord
from ..wording import FoldedParts, fold, note_words, version_ranges
from .addresses import REQUIREMENTS, requirement_page
from .given import GivenRequirement, SiteGiven
from .render import SitePages, word_of
from .sources import source_links

MOST_PARTS: Final = 20
"""Parts of a cell that a page shows; the report has all."""
DECIDED: Final = frozenset({"passed", "failed", "warning"})


@dataclass(frozen=True)
class ShownPart:
    """The base of one line: reasons, files of evidence, and the command that repeats the case."""

    case: str
    versions: str
    verdict: VerdictWord
    reasons: tuple[str, ...]
    evidence: tuple[str, ...]
    repeat: str


@dataclass(frozen=True)
class ShownCell:
    """The verdict on one target; `parts` are those that need a look, or have a reason."""

    target: str
    verdict: VerdictWord
    unstable: bool
    checks: int
    versions: str
    parts: tuple[ShownPart, ...]
    more: int


def all_requirements(matrix: Matrix, given: SiteGiven) -> list[GivenRequirement]:
    """Those of the catalogue in its order, then those that only results name."""
    known = {one.id for one in given.requirements}
    others = [
        GivenRequirement(row.id, row.area, row.level, row.statement, "", "-")
        for row in matrix.rows
        if row.id not in known
    ]
    return [*given.requirements, *others]


def write_requirement_pages(pages: SitePages, matrix: Matrix, given: SiteGiven) -> None:
    """Write the page of each requirement, and the list of all."""
    rows = {row.id: row for row in matrix.rows}
    found = all_requirements(matrix, given)
    for one in found:
        row = rows.get(one.id)
        pages.page(
            requirement_page(one.id),
            "requirement.html",
            title=one.id,
            said=one,
            area_title=given.areas.get(one.area, one.area),
            sources=source_links(one.source),
            apis=list(dict.fromkeys(test.api for test in one.tests if test.api)),
            cells=shown_cells(matrix, row),
            run=run_alone(one, row, matrix) if one.tests else None,
            proofs=[defect for defect in matrix.defects if defect.requirement == one.id],
        )
    areas: dict[str, list[tuple[GivenRequirement, list[tuple[VerdictWord, int]]]]] = {}
    for one in found:
        areas.setdefault(one.area, []).append((one, counts_of(matrix, rows.get(one.id))))
    titles = [(name, given.areas.get(name, name), listed) for name, listed in areas.items()]
    pages.page(
        f"{REQUIREMENTS}/index.html", "requirements.html", title="Requirements", areas=titles
    )


def run_alone(one: GivenRequirement, row: MatrixRow | None, matrix: Matrix) -> str:
    """The command that runs a requirement alone, on a target that decides it if one is known."""
    cells = row.cells if row else {}
    deciding = (at for at in matrix.targets if at in cells and cells[at].verdict in DECIDED)
    target = next(deciding, "reference")
    words = ("--requirement", one.id, "--target", target, "--out", "results")
    return shlex.join(("kafka-conformance", "run", *words))


def counts_of(matrix: Matrix, row: MatrixRow | None) -> list[tuple[VerdictWord, int]]:
    """The number of targets with each verdict, the first met first."""
    counts: dict[VerdictWord, int] = {}
    for target in matrix.targets:
        cell = row.cells.get(target) if row else None
        word = word_of(cell.verdict if cell else None)
        counts[word] = counts.get(word, 0) + 1
    return list(counts.items())


def shown_cells(matrix: Matrix, row: MatrixRow | None) -> list[ShownCell]:
    """One for each target, in the order of the columns."""
    runs = matrix.counted_runs
    return [
        _shown(target, row.cells.get(target) if row else None, runs.get(target), matrix.evidence)
        for target in matrix.targets
    ]


def _shown(
    target: str, cell: Cell | None, run: MatrixRun | None, there: Mapping[tuple[str, str], str]
) -> ShownCell:
    if cell is None or run is None:
        return ShownCell(target, word_of(None), False, 0, "", (), 0)
    folded = [part for part in fold(cell) if _has_words(part)]
    versions = version_ranges(part.api_version for part in cell.parts)
    parts = tuple(shown_part(part, run, there) for part in folded[:MOST_PARTS])
    more = max(0, len(folded) - MOST_PARTS)
    word = word_of(cell.verdict)
    return ShownCell(target, word, cell.unstable, cell.checks, versions, parts, more)


def _has_words(part: FoldedParts) -> bool:
    return part.verdict not in QUIET or any(map(note_words, part.notes))


def shown_part(
    part: FoldedParts, run: MatrixRun, there: Mapping[tuple[str, str], str]
) -> ShownPart:
    """The words of a part. Evidence that no longer lies beside the results is left out."""
    files = dict.fromkeys(note.evidence for note in part.notes if (run.run, note.evidence) in there)
    return ShownPart(
        part.case,
        part.versions,
        word_of(part.verdict),
        tuple(dict.fromkeys(filter(None, map(note_words, part.notes)))),
        tuple(evidence_path(run.run, file) for file in files),
        repeat_command(part.case, run),
    )


def repeat_command(case: str, run: MatrixRun) -> str:
    """The command that repeats one case in a clone."""
    words: Iterable[str] = ("pytest", f"suites/{case}", "--target", run.target)
    seed = () if run.seed is None else ("--seed", str(run.seed))
    return shlex.join([*words, *seed])
