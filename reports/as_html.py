"""`index.html`: the matrix as one page that asks nothing of any network.

The scripts in ``templates`` are put together to one script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .matrix import Matrix
from .page_data import page_data
from .totals import shown_totals
from .verdicts import NOT_RUN, WORST_FIRST
from .wording import catalogue_warning, incomplete_warnings, time_words

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES: Final = Path(__file__).parent / "templates"
STYLES: Final = ("base.css", "page.css")
# One script, in this order: each may use what stands before it.
SCRIPTS: Final = (
    "elements.js",
    "page_data.js",
    "page_state.js",
    "columns.js",
    "grid.js",
    "requirements_view.js",
    "other_views.js",
    "mutants_view.js",
    "timeline.js",
    "lanes.js",
    "panel.js",
    "page.js",
)


def matrix_html(matrix: Matrix) -> str:
    """The page; the same matrix always gives the same bytes."""
    return page_html(
        "index.html",
        SCRIPTS,
        STYLES,
        page_data(matrix),
        matrix=matrix,
        totals=shown_totals(matrix),
        incomplete=incomplete_warnings(matrix),
        catalogues=catalogue_warning(matrix),
        verdicts=[*WORST_FIRST, NOT_RUN],
    )


def templates() -> Environment:
    """The templates of all pages. What comes from results is escaped in them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(time_words=time_words)
    return environment


def page_html(
    template: str, scripts: Sequence[str], styles: Sequence[str], data: str, **values: object
) -> str:
    """A page from a template. What comes from results stands in it as text and as JSON (`data`),
    never as markup, and the page's own policy forbids any script but ours and any request.
    """
    script = page_script(scripts)
    return (
        templates()
        .get_template(template)
        .render(
            script=script,
            script_hash=script_hash(script),
            style=page_style(styles),
            data=data,
            **values,
        )
    )


def page_script(names: Sequence[str] = SCRIPTS) -> str:
    """A page's one script, put together from its files; none of its names is global."""
    parts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def page_style(names: Sequence[str]) -> str:
    """A page's style, put together from its files."""
    return "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def script_hash(script: str) -> str:
    """By which a page's policy knows its script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
