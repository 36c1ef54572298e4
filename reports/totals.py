"""Requirements per verdict and level of a whole target: the numbers at the top of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .headlines import ReportedGroup, ReportedHeadline
from .joined_columns import JoinedColumn
from .matrix import Matrix
from .verdicts import QUIET


@dataclass(frozen=True)
class Total:
    """One column: `counts` by verdict over all levels, `must` by verdict of the MUSTs alone.

    `headline` has the counts of the catalogue; None where the report got no catalogue. `parts`: the
    totals of the targets that the column joins; a single target has none.
    """

    target: str
    counts: Counter[str]
    must: Counter[str]
    headline: ReportedHeadline | None = None
    parts: tuple[Total, ...] = ()

    @property
    def loud(self) -> int:
        """Requirements that need a look."""
        return sum(count for verdict, count in self.counts.items() if verdict not in QUIET)

    @property
    def musts(self) -> int:
        """The MUSTs of the catalogue; without one, those that the run has a verdict for."""
        return self.headline.musts if self.headline else sum(self.must.values())

    @property
    def judged(self) -> int:
        """Requirements that were seen to hold or not to hold."""
        return sum(self.counts[verdict] for verdict in ("passed", "failed", "warning"))

    @property
    def requirements(self) -> int:
        """All of the catalogue; without one, those that the run has a verdict for."""
        return self.headline.requirements if self.headline else sum(self.counts.values())

    @property
    def not_judged(self) -> tuple[ReportedGroup, ...]:
        """The groups of requirements that the run did not judge."""
        return self.headline.not_judged if self.headline else ()


def totals(matrix: Matrix) -> list[Total]:
    """One for each target, in the order of the columns."""
    runs = {target: run.run for target, run in matrix.counted_runs.items()}
    made = {
        target: Total(target, Counter(), Counter(), matrix.headlines.get(runs.get(target, "")))
        for target in matrix.targets
    }
    for area in matrix.areas:
        if area.level is None:
            continue
        made[area.target].counts.update(area.counts)
        if area.level == "MUST":
            made[area.target].must.update(area.counts)
    return list(made.values())


def shown_totals(matrix: Matrix) -> list[Total]:
    """One for each column; a joined one has the totals of its targets."""
    by_target = {total.target: total for total in totals(matrix)}
    joined = {column.name: column for column in matrix.joined}
    return [
        _joined(matrix, joined[name], by_target) if name in joined else by_target[name]
        for name in matrix.columns
    ]


def _joined(matrix: Matrix, column: JoinedColumn, by_target: Mapping[str, Total]) -> Total:
    found = [
        (row.level, verdict) for row in matrix.rows if (verdict := row.verdict(column.targets))
    ]
    return Total(
        column.name,
        Counter(verdict for _, verdict in found),
        Counter(verdict for level, verdict in found if level == "MUST"),
        column.headline,
        tuple(by_target[target] for target in column.targets),
    )
