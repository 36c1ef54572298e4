"""Mutants that behave as the right broker, each with the reason: `equivalent.tsv`.

A row is added after a review of the mutant's source. The score leaves these mutants out and prints
their number: more than `MOST_SHARE` of a sample makes the score worthless.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from labs.mutation.mutant import Mutant
from labs.mutation.noticed import StableName, named_rows, stable_names
from labs.mutation.verdicts import Fate, JudgedMutant

TABLE = Path(__file__).parent / "equivalent.tsv"
MOST_SHARE = 0.1
"""The largest share of a sample that may be equivalent."""


class EquivalentMutant(NamedTuple):
    """``target``: the targets on which the mutant is equivalent, as a pattern."""

    mutant: StableName
    target: str
    reason: str


def read(file: Path = TABLE) -> list[EquivalentMutant]:
    """Return the rows of the table."""
    return [EquivalentMutant(name, *others) for name, others in named_rows(file)]


class KnownEquivalents:
    """The names of the equivalent mutants of one target, as the present source has them."""

    def __init__(self, every: Iterable[Mutant], spec: str) -> None:
        known = {row.mutant for row in read() if fnmatchcase(spec, row.target)}
        self._names = {one.name for name, one in stable_names(every) if name in known}

    def reviewed(self, judged: JudgedMutant) -> JudgedMutant:
        """Return the verdict ``EQUIVALENT`` for a survivor of the table, others as they are."""
        if judged.verdict is Fate.SURVIVED and judged.mutant.name in self._names:
            return replace(judged, verdict=Fate.EQUIVALENT)
        return judged
