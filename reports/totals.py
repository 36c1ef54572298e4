"""Requirements per verdict and level of a whole target: the numbers at the top of a report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .matrix import Matrix
from .verdicts import QUIET


@dataclass(frozen=True)
class Total:
    """One target: `counts` by verdict over all levels, `must` by verdict of the MUSTs alone."""

    target: str
    counts: Counter[str]
    must: Counter[str]

    @property
    def loud(self) -> int:
        """Requirements that need a look."""
        return sum(count for verdict, count in self.counts.items() if verdict not in QUIET)

    @property
    def must_asked(self) -> int:
        """MUSTs that the target could be asked for."""
        return sum(self.must.values()) - self.must["not_supported"] - self.must["not_applicable"]


def totals(matrix: Matrix) -> list[Total]:
    """One for each target, in the order of the columns."""
    made = {target: Total(target, Counter(), Counter()) for target in matrix.targets}
    for area in matrix.areas:
        if area.level is None:
            continue
        made[area.target].counts.update(area.counts)
        if area.level == "MUST":
            made[area.target].must.update(area.counts)
    return list(made.values())
