"""`archaeology.md`: contradictions open, points of change by release, where each promise holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ..as_markdown import escape, folded, joined_sections, table
from .history import Archaeology, DateAgreement, RequirementHistory, State, VerdictChange
from .ranges import contradictions, of_state

REASON_LIMIT: Final = 300
MEANING: Final = {
    DateAgreement.CONTRADICTS: "the catalogue's dates say otherwise",
    DateAgreement.NOTED: "the release alone says otherwise, the entry's note explains it",
    DateAgreement.KNOWN_BUG: "promised and not kept, which is a known bug of the release",
    DateAgreement.AGREES: "as the catalogue's dates say",
    DateAgreement.UNKNOWN: "no date, or nothing was learnt",
}
STATE_WORDS: Final = {
    State.HOLDS: "holds",
    State.BROKEN: "broken",
    State.ABSENT: "not there",
    State.OPEN: "open",
}


def archaeology_markdown(found: Archaeology) -> str:
    """The page as GitHub-flavoured Markdown; the same results always give the same bytes."""
    sections = [
        ["# What each release keeps"],
        [f"> **INCOMPLETE.** {escape(sentence)}" for sentence in found.incomplete],
        _head(found),
        _contradictions(found),
        *_changes(found),
        ["## Where each promise holds"],
        *_areas(found),
    ]
    return joined_sections(sections)


def _head(found: Archaeology) -> list[str]:
    counts = Counter(row.agreement for row in found.rows)
    columns = ", ".join(column.name for column in found.columns)
    about = (
        f"{len(found.rows)} requirements on {len(found.columns)} releases ({columns}); catalogue "
        f"{', '.join(found.catalogue_versions)}, suite {', '.join(found.suite_versions)}."
    )
    return [
        about,
        *table(
            ["requirements", "", "meaning"],
            ([str(counts[one]), words(one), said] for one, said in MEANING.items()),
        ),
    ]


def words(agreement: DateAgreement) -> str:
    """`known bug`"""
    return agreement.value.replace("_", " ")


def _contradictions(found: Archaeology) -> list[str]:
    rows = [
        [
            escape(row.id),
            escape(row.promise.level),
            escape(row.promise.dates),
            what,
            escape(at),
            escape(why[:REASON_LIMIT]),
        ]
        for row in found.contradictions
        for what, at, why in contradictions(row, found.columns)
    ]
    head = ["requirement", "level", "catalogue", "seen: it", "on", "for example"]
    if not rows:
        return ["Nothing contradicts the catalogue's dates."]
    return ["## Contradicts the catalogue", *table(head, rows)]


def _changes(found: Archaeology) -> Iterable[list[str]]:
    pairs: dict[tuple[int, int], list[tuple[RequirementHistory, VerdictChange]]] = {}
    for row in found.rows:
        for change in row.changes:
            pairs.setdefault((change.after, change.before), []).append((row, change))
    if pairs:
        yield ["## Points of change"]
    for (after, before), changes in sorted(pairs.items()):
        title = f"{found.columns[before].name} → {found.columns[after].name}: {len(changes)}"
        yield folded(title, _pair(changes))


def _pair(changes: Sequence[tuple[RequirementHistory, VerdictChange]]) -> list[str]:
    return table(
        ["requirement", "was", "is", "catalogue", ""],
        (
            [
                escape(row.id),
                STATE_WORDS[change.was],
                STATE_WORDS[change.now],
                escape(row.promise.dates),
                words(change.agreement),
            ]
            for row, change in changes
        ),
    )


def _areas(found: Archaeology) -> Iterable[list[str]]:
    head = ["requirement", "level", "catalogue", *(STATE_WORDS[state] for state in State), ""]
    areas = dict.fromkeys(row.promise.area for row in found.rows)
    for area in areas:
        rows = [row for row in found.rows if row.promise.area == area]
        lines = (
            [
                escape(row.id),
                escape(row.promise.level),
                escape(row.promise.dates),
                *(escape(of_state(row, found.columns, state)) for state in State),
                words(row.agreement),
            ]
            for row in rows
        )
        yield folded(f"{area}: {len(rows)} requirements", table(head, lines))
