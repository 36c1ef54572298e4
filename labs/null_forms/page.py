"""The table of observations in the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.oracle.null_forms import NullForm
from harness.oracle.null_table import NOTHING, NullRow

PAGE = Path(__file__).resolve().parents[2] / "docs/nullable-fields.md"
MARK = "<!-- the table -->\n"
_HEAD = ("API", "field", "beside", "versions", *NullForm)


def page_text(before: str, rows: Sequence[NullRow]) -> str:
    """Return the text of the page with the table of these rows, which ends it.

    Raises ValueError if the text has no place for the table.
    """
    start, mark, _ = before.partition(MARK)
    if not mark:
        raise ValueError(f"{PAGE.name}: the line {MARK.strip()} is missing, before the table")
    return start + mark + "\n" + "\n".join(table_lines(rows)) + "\n"


def table_lines(rows: Sequence[NullRow]) -> list[str]:
    """Return the lines of the table in Markdown."""
    cells = [_HEAD, ["---"] * len(_HEAD), *map(_cells, rows)]
    return [f"| {' | '.join(line)} |" for line in cells]


def _cells(row: NullRow) -> list[str]:
    every = {target for form in NullForm for target in row.targets(form)}
    versions = NOTHING if row.versions is None else str(row.versions)
    return [row.api, row.field, row.beside, versions, *(_targets(row, f, every) for f in NullForm)]


def _targets(row: NullRow, form: NullForm, every: set[str]) -> str:
    found = row.targets(form)
    return "all" if found and set(found) == every else ", ".join(found) or NOTHING
