"""`index.html`: the matrix as one page that needs no network and no scripts."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Final

from .matrix import AreaCount, Matrix, Row
from .verdicts import BY_NAME, NOT_RUN, WORST_FIRST
from .wording import catalogue_warning, fold, incomplete_warnings, note_words, time_words

TEMPLATES: Final = Path(__file__).parent / "templates"


def matrix_html(matrix: Matrix) -> str:
    """The page; every text from the results is escaped, and the page's own policy forbids any
    script but ours and any request. The same matrix always gives the same bytes.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(word=_word, fold=fold, note_words=note_words, time_words=time_words)
    script = (TEMPLATES / "matrix.js").read_text(encoding="utf-8")
    return environment.get_template("index.html").render(
        matrix=matrix,
        incomplete=incomplete_warnings(matrix),
        catalogues=catalogue_warning(matrix),
        rows_by_area=_rows_by_area(matrix),
        areas=_areas_by_name(matrix),
        verdicts=[*WORST_FIRST, NOT_RUN],
        not_run=NOT_RUN,
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=(TEMPLATES / "matrix.css").read_text(encoding="utf-8"),
    )


def _word(verdict: str) -> object:
    return BY_NAME.get(verdict, NOT_RUN)


def _rows_by_area(matrix: Matrix) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in matrix.rows:
        rows.setdefault(row.area, []).append(row)
    return rows


def _areas_by_name(matrix: Matrix) -> dict[str, dict[str, list[AreaCount]]]:
    """Area to target to its counts, the whole area first, then level by level."""
    areas: dict[str, dict[str, list[AreaCount]]] = {}
    for area in matrix.areas:
        areas.setdefault(area.area, {}).setdefault(area.target, []).append(area)
    return areas
