"""The data of the page, as compact JSON; templates/archaeology.js reads it."""

from __future__ import annotations

import re
from typing import Any, Final

from ..page_data import script_data
from .as_markdown import MEANING, STATE_WORDS, words
from .history import Archaeology, DateAgreement, ReleaseColumn, RequirementHistory, State
from .ranges import contradictions, of_state, ranges

SIGNS: Final = {State.HOLDS: "✓", State.BROKEN: "✗", State.ABSENT: "–", State.OPEN: "·"}
_STATES: Final = list(State)
_AGREEMENTS: Final = list(DateAgreement)
# Said beside the reasons anyway, and other in each release.
_DATES: Final = re.compile(r"^promised (?:since|until) \S+(?:, not in \S+)?; this is \S+: ")


def archaeology_data(found: Archaeology) -> str:
    """The JSON text, fit to stand in a `<script type="application/json">`."""
    texts: dict[str, int] = {}
    document = {
        "columns": [[c.name, c.mode, list(c.targets), int(c.complete)] for c in found.columns],
        "states": [[state.value, SIGNS[state], STATE_WORDS[state]] for state in _STATES],
        "agreements": [[one.value, words(one), MEANING[one]] for one in _AGREEMENTS],
        "rows": [_row(row, found.columns, texts) for row in found.rows],
    }
    return script_data({**document, "texts": list(texts)})


def _row(
    row: RequirementHistory, columns: tuple[ReleaseColumn, ...], texts: dict[str, int]
) -> list[Any]:
    promise = row.promise
    return [
        row.id,
        promise.area,
        promise.level,
        promise.statement,
        promise.dates,
        promise.note or "",
        _AGREEMENTS.index(row.agreement),
        "".join(str(_STATES.index(cell.state)) for cell in row.cells),
        "".join(str(_AGREEMENTS.index(cell.agreement)) for cell in row.cells),
        "".join("?" if cell.promised is None else str(int(cell.promised)) for cell in row.cells),
        [
            [c.before, c.after, _STATES.index(c.was), _STATES.index(c.now),
             _AGREEMENTS.index(c.agreement)]
            for c in row.changes
        ],
        [[what, where] for what, where, _ in contradictions(row, columns)],
        [[at, text] for at, state in enumerate(_STATES) if (text := of_state(row, columns, state))],
        _reasons(row, columns, texts),
        _bugs(row, columns),
    ]  # fmt: skip


def _reasons(
    row: RequirementHistory, columns: tuple[ReleaseColumn, ...], texts: dict[str, int]
) -> list[Any]:
    """[verdict, where, numbers of texts], columns that say the same together."""
    groups: dict[tuple[str, tuple[str, ...]], set[int]] = {}
    for at, cell in enumerate(row.cells):
        said = tuple(dict.fromkeys(_DATES.sub("", reason) for reason in cell.reasons))
        if said:
            groups.setdefault((cell.verdict, said), set()).add(at)
    return [
        [
            verdict.replace("_", " "),
            " ".join(ranges(columns, there)),
            [texts.setdefault(text, len(texts)) for text in said],
        ]
        for (verdict, said), there in groups.items()
    ]


def _bugs(row: RequirementHistory, columns: tuple[ReleaseColumn, ...]) -> list[Any]:
    groups: dict[tuple[str, str], set[int]] = {}
    for at, cell in enumerate(row.cells):
        if cell.bug is not None:
            groups.setdefault((cell.bug.reason, cell.bug.link), set()).add(at)
    return [
        [" ".join(ranges(columns, there)), reason, link] for (reason, link), there in groups.items()
    ]
