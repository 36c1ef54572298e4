"""The permission matrix as the table of ``docs/permissions.md``.

``python -m suites.protocol.support.permissions.page`` writes it into the page again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.codec.apis import api_named
from harness.codec.versions import VersionRange
from suites.protocol.support.permissions.matrix import NO_RIGHT, OPERATIONS, Line, Row, rows

PAGE = Path(__file__).parents[4] / "docs" / "permissions.md"
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
HEAD = "| requirement | request | enough | not enough | the answer then |\n|---|---|---|---|---|\n"
OR = "<br>"


def table() -> str:
    """The table, a line for each row of the matrix."""
    return HEAD + "".join(_row(row) for row in rows().values())


def with_table(page: str) -> str:
    """Return the page with the table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(row: Row) -> str:
    fields = [line for line in row.lines if line.answer.startswith(OPERATIONS)]
    refused = [line for line in row.lines if line.refuses]
    served = [line for line in row.lines if line not in fields and not line.refuses]
    enough = _each(map(_held, served))
    missing = _each(map(_held, refused))
    answers = _each(
        [f"`{line.answer}` in `{line.place}`{_at(line, row)}" for line in refused]
        + [f"{_held(line)}: `{line.answer}` in `{line.place}`" for line in fields]
    )
    form = row.form.replace("/", ": ")
    return f"| {row.requirement} | {form} | {enough} | {missing} | {answers} |\n"


def _each(texts: Iterable[str]) -> str:
    return OR.join(dict.fromkeys(texts)) or NO_RIGHT


def _held(line: Line) -> str:
    return "no right" if line.held == NO_RIGHT else line.held.replace(", ", " + ")


def _at(line: Line, row: Row) -> str:
    """The versions, where they are not all of the API."""
    every = VersionRange.parse("0+")
    return "" if line.versions == every else f" (v{_text(line.versions, row)})"


def _text(versions: VersionRange, row: Row) -> str:
    if versions.highest >= api_named(row.api).valid_versions.highest:
        return f"{versions.lowest}+"
    if versions.lowest == versions.highest:
        return str(versions.lowest)
    return f"{versions.lowest}-{versions.highest}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), encoding="utf-8")
