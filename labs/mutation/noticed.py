"""Mutants that an earlier run noticed, each with the test that noticed it.

The gate runs a drawn part of them again: a mutant that survives now is a test that has lost its
teeth. The names of mutants have lines, which every change of a module moves; a row has what stays:
operator, module, function, the changed source, and the ordinal among equal changes of the function.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from labs.mutation.mutant import Mutant
from labs.mutation.verdicts import Fate, JudgedMutant

FILE = Path(__file__).with_name("noticed.tsv")


class StableName(NamedTuple):
    """The name of a mutant that survives changes elsewhere in its module."""

    operator: str
    module: str
    function: str
    before: str
    after: str
    ordinal: int


class NoticedMutant(NamedTuple):
    """A row of the file: a mutant, the requirement that failed, and the case, as in a journal."""

    mutant: StableName
    requirement: str
    case: str


def stable_names(mutants: Iterable[Mutant]) -> Iterator[tuple[StableName, Mutant]]:
    """Yield each mutant with its stable name; all mutants of a module must be given."""
    seen: Counter[tuple[str, ...]] = Counter()
    for one in mutants:
        what = (one.operator, one.area_path, one.function, one.before, one.after)
        yield StableName(*what, seen[what]), one
        seen[what] += 1


def rows_of(judged: Iterable[JudgedMutant], every: Iterable[Mutant]) -> Iterator[NoticedMutant]:
    """Yield the rows of mutants that a check noticed; ``every``: all mutants of the source."""
    names = {mutant.name: name for name, mutant in stable_names(every)}
    for one in judged:
        if one.case and one.verdict is not Fate.OTHER_TARGET:
            yield NoticedMutant(names[one.mutant.name], one.requirement, one.case)


def read(file: Path = FILE) -> list[NoticedMutant]:
    """Return the rows of the file."""
    return [NoticedMutant(name, *others) for name, others in named_rows(file)]


def named_rows(file: Path) -> Iterator[tuple[StableName, list[str]]]:
    """Yield the mutant of each row of a table, and the cells behind its name."""
    with file.open(encoding="utf-8", newline="") as text:
        rows = list(csv.reader(text, delimiter="\t"))
    for operator, module, function, before, after, ordinal, *others in rows[1:]:
        yield StableName(operator, module, function, before, after, int(ordinal)), others


def write(rows: Iterable[NoticedMutant], file: Path = FILE) -> None:
    """Write the file, sorted, each mutant once."""
    unique: Mapping[StableName, NoticedMutant] = {row.mutant: row for row in rows}
    with file.open("w", encoding="utf-8", newline="") as text:
        out = csv.writer(text, delimiter="\t", lineterminator="\n")
        out.writerow([*StableName._fields, "requirement", "case"])
        out.writerows([*row.mutant, row.requirement, row.case] for _, row in sorted(unique.items()))
