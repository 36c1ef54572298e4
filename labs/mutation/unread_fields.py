"""Fields of responses that no check notices, with the reason of each: `unread_fields.tsv`.

The table may only shrink: a row that a check notices now is taken out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from labs.mutation.verdicts import NOTICED, JudgedMutant

TABLE = Path(__file__).parent / "unread_fields.tsv"


class UnreadField(NamedTuple):
    """``module``: of the API's handler; ``path``: of the field; ``change``: what is not noticed."""

    module: str
    path: str
    change: str
    reason: str


def read() -> list[UnreadField]:
    """Return the rows of the table."""
    with TABLE.open(encoding="utf-8") as file:
        return [UnreadField(**row) for row in csv.DictReader(file, delimiter="\t")]


def problems(judged: Sequence[JudgedMutant], table: Sequence[UnreadField]) -> Iterator[str]:
    """Yield the fields that no check notices and the table lacks, and rows that are to go."""
    known = {row[:3] for row in table}
    for one in judged:
        row = (one.mutant.area_path, one.mutant.function, one.mutant.after)
        if one.verdict not in NOTICED and row not in known:
            yield f"no check notices it, and no row of {TABLE.name} has a reason: {' '.join(row)}"
        if one.verdict in NOTICED and row in known:
            yield f"{one.requirement} notices it: take the row out of {TABLE.name}: {' '.join(row)}"
