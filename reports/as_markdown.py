"""`matrix.md`: a summary for CI or a pull request: counts, failures, the rest folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from .matrix import Cell, Matrix, MatrixRow, MatrixRun
from .totals import Total, shown_totals
from .verdicts import BY_NAME, NOT_RUN, QUIET, WORST_FIRST
from .wording import (
    catalogue_warning,
    fold,
    incomplete_warnings,
    note_words,
    time_words,
    version_ranges,
)

FINDINGS_SHOWN: Final = 40
REASON_LIMIT: Final = 300
# GitHub refuses a step summary of more than 1 MiB.
SIZE_LIMIT_BYTES: Final = 900_000


def matrix_markdown(matrix: Matrix) -> str:
    """The matrix as GitHub-flavoured Markdown; the same matrix always gives the same bytes.

    Counts and failures stand open, all else is folded. Never longer than `SIZE_LIMIT_BYTES`:
    tables of requirements that no longer fit are left out, and that is said.
    """
    sections = [
        ["# Compatibility matrix"],
        _warnings(matrix),
        _counts(matrix),
        *_not_judged(matrix),
        *_findings(matrix),
        folded("Areas", _areas(matrix)),
        folded("API versions", _apis(matrix)),
        folded("Runs", _runs(matrix)),
        folded("What the verdicts say", ["", *map(_meaning, (*WORST_FIRST, NOT_RUN))]),
    ]
    text = joined_sections(sections)
    left_out = []
    for area in dict.fromkeys(row.area for row in matrix.rows):
        more = "\n" + joined_sections([_area_table(matrix, area)])
        if len((text + more).encode()) > SIZE_LIMIT_BYTES:
            left_out.append(area)
        else:
            text += more
    if left_out:
        text += f"\nLeft out for length, see index.html: {escape(', '.join(left_out))}.\n"
    return text


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is, on one line."""
    one_line = " ".join(text.split())
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", one_line)


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that are shown when their title is clicked; nothing when there are none."""
    head = title.replace("&", "&amp;").replace("<", "&lt;")
    return [f"<details><summary>{head}</summary>", *lines, "", "</details>"] if lines else []


def joined_sections(sections: Iterable[Sequence[str]]) -> str:
    """One text, an empty line between sections; those without lines are left out."""
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    # The empty line before a table belongs to Markdown's syntax.
    return ["", *("| " + " | ".join(line) + " |" for line in lines)]


def _words(verdict: str) -> str:
    word = BY_NAME.get(verdict, NOT_RUN)
    words = word.words if verdict in QUIET or word is NOT_RUN else f"**{word.words}**"
    return f"{escape(word.sign)} {words}"


def _meaning(word: object) -> str:
    name = getattr(word, "name", "")
    return f"- {_words(name)}: {getattr(word, 'meaning', '')}"


def _warnings(matrix: Matrix) -> list[str]:
    warnings = [f"**INCOMPLETE.** {escape(text)}" for text in incomplete_warnings(matrix)]
    catalogues = catalogue_warning(matrix)
    if catalogues:
        warnings.append(escape(catalogues))
    return "\n>\n".join(f"> {warning}" for warning in warnings).splitlines()


def _not_judged(matrix: Matrix) -> Iterator[list[str]]:
    """A list for each column: the requirements of the catalogue that its runs did not judge."""
    for total in shown_totals(matrix):
        if total.not_judged:
            lines = [
                f"- {one.count} {escape(f'{one.why}: {one.remedy}')}" for one in total.not_judged
            ]
            left = total.requirements - total.judged
            yield [
                f"{escape(total.target)}: {left} requirements of the catalogue not judged",
                "",
                *lines,
            ]


def _counts(matrix: Matrix) -> list[str]:
    rows = [
        row for total in shown_totals(matrix) for row in (_total(total), *map(_total, total.parts))
    ]
    return table(["target", "judged", "MUST passed", *(word.words for word in WORST_FIRST)], rows)[
        1:
    ]


def _total(total: Total) -> list[str]:
    return [
        escape(total.target),
        f"{total.judged} of {total.requirements}",
        f"**{total.must['passed']}** of {total.musts}",
        *(str(total.counts[word.name] or "") for word in WORST_FIRST),
    ]


def _findings(matrix: Matrix) -> list[list[str]]:
    """The worst first, so that what is cut off is the least of it."""
    order = [word.name for word in WORST_FIRST]
    found = sorted(
        (
            (order.index(cell.verdict), row.level != "MUST", number, row, target, cell)
            for number, row in enumerate(matrix.rows)
            for target in matrix.targets
            if (cell := row.cells.get(target)) is not None
            and (cell.verdict not in QUIET or cell.unstable)
        ),
        key=lambda one: one[:3],
    )
    if not found:
        return [["Nothing failed, nothing is open."]]
    lines = [_finding(row, target, cell) for *_, row, target, cell in found]
    shown = ["## Not passed", "", *lines[:FINDINGS_SHOWN]]
    rest = lines[FINDINGS_SHOWN:]
    return [shown, folded(f"{len(rest)} more", ["", *rest[: 10 * FINDINGS_SHOWN]]) if rest else []]


def _finding(row: MatrixRow, target: str, cell: Cell) -> str:
    parts = [part for part in fold(cell) if part.verdict not in QUIET or part.unstable]
    versions = version_ranges(
        part.api_version for part in cell.parts if part.verdict == cell.verdict
    )
    reasons = [words for part in parts for note in part.notes if (words := note_words(note))]
    line = f"- **{escape(row.id)}** ({escape(row.level)}) on **{escape(target)}**: "
    line += _words(cell.verdict) + (f" at {versions}" if versions else "")
    line += ", unstable: its attempts differ" if cell.unstable else ""
    if row.statement:
        line += f". {escape(row.statement)}"
    if reasons:
        more = f" (and {len(set(reasons)) - 1} more reasons)" if len(set(reasons)) > 1 else ""
        line += f"<br>{escape(_cut(reasons[0]))}{more}"
    return line


def _cut(text: str) -> str:
    return text if len(text) <= REASON_LIMIT else text[:REASON_LIMIT] + " ..."


def _areas(matrix: Matrix) -> list[str]:
    return table(
        ["area", "target", "level", *(word.words for word in WORST_FIRST), "requirements"],
        (
            [
                escape(area.area),
                escape(area.target),
                escape(area.level or ""),
                *(str(area.counts[word.name] or "") for word in WORST_FIRST),
                str(area.requirements),
            ]
            for area in matrix.areas
            if area.level is not None
        ),
    )


def _apis(matrix: Matrix) -> list[str]:
    """One line an API and target: the versions that are declared, decodable, behave, don't."""
    found: dict[tuple[int, str, str], list[list[int]]] = {}
    observed = {api.target for api in matrix.apis if api.observed}
    for api in matrix.apis:
        sets = found.setdefault((api.api_key, api.api_name, api.target), [[], [], [], []])
        worst = {api.decodable, api.behaves} - {None, *QUIET}
        said = (
            api.declared or api.observed,
            api.decodable == "passed",
            api.behaves == "passed",
            bool(worst),
        )
        for versions, holds in zip(sets, said, strict=True):
            if holds:
                versions.append(api.api_version)
    rows = [
        [escape(f"{name} ({key})"), escape(target), *map(version_ranges, sets)]
        for (key, name, target), sets in found.items()
    ]
    head = [
        "API",
        "target",
        "declared*" if observed else "declared",
        "answers decodable",
        "behaves",
        "not passed",
    ]
    return [*table(head, rows), *_observed_note(observed)] if rows else []


def _observed_note(observed: set[str]) -> list[str]:
    """Return a note on the targets without an ApiVersions answer: their versions were observed."""
    named = ", ".join(map(escape, sorted(observed)))
    return ["", f"\\* observed, as these advertise nothing: {named}"] if observed else []


def _runs(matrix: Matrix) -> list[str]:
    head = ["target", "run", "state", "implementation", "release", "suite", "catalogue", "seed"]
    return table(
        [*head, "last check", "checks"],
        ([*map(escape, _run_facts(run)), str(run.checks)] for run in matrix.runs),
    )


def _run_facts(run: MatrixRun) -> list[str]:
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


def _area_table(matrix: Matrix, area: str) -> list[str]:
    rows = [row for row in matrix.rows if row.area == area]
    columns = matrix.columns
    passed = sum(
        all(row.verdict(targets) == "passed" for targets in columns.values()) for row in rows
    )
    head = ["requirement", "level", "statement", *map(escape, columns)]
    title = f"{area}: {len(rows)} requirements, {passed} passed everywhere"
    return folded(title, table(head, [_row(row, matrix) for row in rows]))


def _row(row: MatrixRow, matrix: Matrix) -> list[str]:
    found = (row.verdict(targets) for targets in matrix.columns.values())
    verdicts = (_words(verdict or NOT_RUN.name) for verdict in found)
    return [escape(row.id), escape(row.level), escape(row.statement), *verdicts]
