"""The published score of a target, and the mutants of its sample that no check noticed.

Each target has one sample in the files; a new one replaces it.
"""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.conformance.mutation_score import MutantCount, read_score, write_score
from labs.mutation.areas import first_area
from labs.mutation.mutant import Mutant
from labs.mutation.noticed import StableName, stable_names
from labs.mutation.verdicts import NOTICED, Fate, JudgedMutant

SURVIVORS = Path(__file__).with_name("survivors.tsv")


def counts_of(judged: Iterable[JudgedMutant], spec: str, seed: int) -> list[MutantCount]:
    """Return the score of a sample as its rows."""
    at = datetime.datetime.now(datetime.UTC).date().isoformat()
    equal = Counter(
        (first_area(one.mutant.area_path), one.mutant.operator, one.verdict.name.lower())
        for one in judged
    )
    return [MutantCount(spec, at, seed, *what, count) for what, count in equal.items()]


def publish_score(counts: Sequence[MutantCount], spec: str, file: Path) -> None:
    """Replace the rows of this target. Raises OSError, ScoreError."""
    others = read_score(file) if file.exists() else ()
    write_score([*(one for one in others if one.target != spec), *counts], file)


def publish_survivors(
    judged: Sequence[JudgedMutant], every: Sequence[Mutant], spec: str, file: Path = SURVIVORS
) -> None:
    """Replace the survivors of this target. Raises OSError."""
    names = {mutant.name: name for name, mutant in stable_names(every)}
    left = [one for one in judged if one.verdict not in {*NOTICED, Fate.EQUIVALENT}]
    rows = [[spec, one.verdict.name.lower(), *map(str, names[one.mutant.name])] for one in left]
    with file.open(encoding="utf-8", newline="") as text:
        rows += [row for row in list(csv.reader(text, delimiter="\t"))[1:] if row[0] != spec]
    with file.open("w", encoding="utf-8", newline="") as text:
        out = csv.writer(text, delimiter="\t", lineterminator="\n")
        out.writerow(["target", "fate", *StableName._fields])
        out.writerows(sorted(rows))
