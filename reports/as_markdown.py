"""`matrix.md`: the matrix for a terminal, a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .matrix import AreaCount, Cell, Matrix, Row, Run
from .verdicts import BY_NAME, NOT_RUN, QUIET, WORST_FIRST
from .wording import catalogue_warning, fold, incomplete_warnings, note_words, time_words


def matrix_markdown(matrix: Matrix) -> str:
    """The matrix as GitHub-flavoured Markdown; the same matrix always gives the same bytes."""
    sections = [
        ["# Compatibility matrix"],
        _warnings(matrix),
        ["## Runs", *_runs(matrix)],
        ["## Areas", "Requirements per verdict.", *_areas(matrix)],
        *_matrix(matrix),
        _findings(matrix),
        ["## Verdicts", *(f"- {_words(word.name)}: {word.meaning}" for word in WORST_FIRST)],
        [f"- {_words('not_run')}: {NOT_RUN.meaning}"],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is, on one line."""
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", one_line)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    # The empty line before a table belongs to Markdown's syntax.
    return ["", *("| " + " | ".join(line) + " |" for line in lines)]


def _words(verdict: str) -> str:
    word = BY_NAME.get(verdict, NOT_RUN)
    words = word.words if verdict in QUIET or word is NOT_RUN else f"**{word.words}**"
    return f"{escape(word.sign)} {words}"


def _warnings(matrix: Matrix) -> list[str]:
    warnings = [f"**INCOMPLETE.** {escape(text)}" for text in incomplete_warnings(matrix)]
    catalogues = catalogue_warning(matrix)
    if catalogues:
        warnings.append(escape(catalogues))
    return "\n>\n".join(f"> {warning}" for warning in warnings).splitlines()


def _runs(matrix: Matrix) -> list[str]:
    head = ["target", "run", "state", "implementation", "release", "suite", "catalogue", "seed"]
    return _table(
        [*head, "last check", "checks"],
        ([*map(escape, _run_facts(run)), str(run.checks)] for run in matrix.runs),
    )


def _run_facts(run: Run) -> list[str]:
    state = "complete" if run.run_complete else "INCOMPLETE"
    return [
        run.target,
        run.run,
        state if run.counts else f"{state}, a newer run counts",
        run.implementation,
        run.release,
        run.suite_version,
        run.catalogue_version,
        "" if run.seed is None else str(run.seed),
        time_words(run.last_check_at),
    ]


def _areas(matrix: Matrix) -> list[str]:
    return _table(
        ["area", "target", "level", *(word.words for word in WORST_FIRST), "requirements"],
        (_area_line(area) for area in matrix.areas if area.level is not None),
    )


def _area_line(area: AreaCount) -> list[str]:
    counts = (area.counts[word.name] for word in WORST_FIRST)
    return [
        escape(area.area),
        escape(area.target),
        escape(area.level or ""),
        *(str(count or "") for count in counts),
        str(area.requirements),
    ]


def _matrix(matrix: Matrix) -> list[list[str]]:
    sections = []
    for area in dict.fromkeys(row.area for row in matrix.rows):
        rows = [_row(row, matrix) for row in matrix.rows if row.area == area]
        head = ["requirement", "level", "statement", *map(escape, matrix.targets)]
        sections.append([f"## {escape(area)}", *_table(head, rows)])
    return sections


def _row(row: Row, matrix: Matrix) -> list[str]:
    cells = (row.cells.get(target) for target in matrix.targets)
    verdicts = (_words(cell.verdict if cell else NOT_RUN.name) for cell in cells)
    return [escape(row.id), escape(row.level), escape(row.statement), *verdicts]


def _findings(matrix: Matrix) -> list[str]:
    found = [
        line
        for row in matrix.rows
        for target in matrix.targets
        if (cell := row.cells.get(target)) is not None
        and (cell.verdict not in QUIET or cell.unstable)
        for line in _finding(row, target, cell)
    ]
    return ["## Findings", "", *found] if found else []


def _finding(row: Row, target: str, cell: Cell) -> list[str]:
    lines = [f"- **{escape(row.id)}** on **{escape(target)}**: {_words(cell.verdict)}"]
    for part in fold(cell):
        if part.verdict in QUIET and not part.unstable:
            continue
        retried = ", unstable: its attempts differ" if part.unstable else ""
        versions = f" {part.versions}" if part.versions else ""
        lines.append(f"  - {escape(part.case)}{versions}: {_words(part.verdict)}{retried}")
        lines += [f"    - {escape(words)}" for note in part.notes if (words := note_words(note))]
    return lines
