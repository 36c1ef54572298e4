"""``mutation_score.tsv``: how many wrong brokers the suites noticed, of random samples.

It is made by ``kafka-conformance lab mutate --publish``, never by hand. A row counts the mutants of
one target, area, operator and fate; docs/teeth.md explains the words.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

SCORE_FILE = Path(__file__).parent / "mutation_score.tsv"


class ScoreError(ValueError):
    """The file is wrong; the message says where and what."""


@dataclass(frozen=True, slots=True, order=True)
class MutantCount:
    """Equal mutants of one sample.

    Attributes:
        target: the broker that they were made of, as a target string.
        at, seed: date and seed of the sample.
        area: the first area of requirements of the changed module.
        operator: the kind of mistake.
        fate: noticed, elsewhere, gone, other_target, undecided, survived, equivalent or
            not_reached.
        mutants: the number of them.
    """

    target: str
    at: str
    seed: int
    area: str
    operator: str
    fate: str
    mutants: int


_HEAD = [field.name for field in fields(MutantCount)]


def write_score(counts: Iterable[MutantCount], path: Path) -> None:
    """Write the file, whole. Raises OSError."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter="\t", lineterminator="\n")
        out.writerow(_HEAD)
        out.writerows(astuple(one) for one in sorted(counts))


@cache
def the_score() -> tuple[MutantCount, ...]:
    """Return the published score; empty without the file. Raises as `read_score`."""
    return read_score(SCORE_FILE) if SCORE_FILE.exists() else ()


def read_score(path: Path) -> tuple[MutantCount, ...]:
    """Read such a file.

    Raises:
        ScoreError: anything that `write_score` does not write.
        OSError: it cannot be read.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    if not rows or rows[0] != _HEAD:
        raise ScoreError(f"{path}: line 1 is not the head {' '.join(_HEAD)}")
    return tuple(_count(path, number, row) for number, row in enumerate(rows[1:], start=2))


def _count(path: Path, number: int, row: list[str]) -> MutantCount:
    try:
        target, at, seed, area, operator, fate, mutants = row
        return MutantCount(target, at, int(seed), area, operator, fate, int(mutants))
    except ValueError as problem:
        raise ScoreError(f"{path}: line {number}: {problem}") from problem
