"""`archaeology.html`: requirement x release as one page that asks nothing of any network."""

from __future__ import annotations

from collections import Counter
from typing import Final

from ..as_html import page_html
from .as_markdown import MEANING, STATE_WORDS, words
from .history import Archaeology, DateAgreement, State
from .page_data import SIGNS, archaeology_data

SCRIPTS: Final = ("elements.js", "grid.js", "archaeology.js")
STYLES: Final = ("base.css", "page.css", "archaeology.css")


def archaeology_html(found: Archaeology) -> str:
    """The page; the same results always give the same bytes."""
    counts = Counter(row.agreement for row in found.rows)
    return page_html(
        "archaeology.html",
        SCRIPTS,
        STYLES,
        archaeology_data(found),
        found=found,
        changes=sum(len(row.changes) for row in found.rows),
        agreements=[(one.value, words(one), counts[one], said) for one, said in MEANING.items()],
        contradicted=counts[DateAgreement.CONTRADICTS],
        states=[(state.value, SIGNS[state], said) for state, said in STATE_WORDS.items()],
        open_state=State.OPEN.value,
    )
