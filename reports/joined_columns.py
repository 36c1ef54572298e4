"""The columns of several set-ups of one broker as one column, as `run --as-one` judged them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .headlines import ReportedHeadline


@dataclass(frozen=True)
class JudgedAsOne:
    """Runs of one broker: `broker` is the target without its set-up, `runs` are ids.

    `headline`: what of the catalogue the runs judged together.
    """

    broker: str
    runs: tuple[str, ...]
    headline: ReportedHeadline


@dataclass(frozen=True)
class JoinedColumn:
    """`targets`: the columns that it joins, in the order of the command."""

    broker: str
    targets: tuple[str, ...]
    headline: ReportedHeadline

    @property
    def name(self) -> str:
        """Another name than that of any target."""
        return f"{self.broker} as one"


def joined_columns(
    run_of_column: Mapping[str, str], found: Iterable[JudgedAsOne]
) -> tuple[JoinedColumn, ...]:
    """Return the joined columns, if each of their runs is shown; `run_of_column`: run by target.

    A newer run of one of the targets ends the column: it was not judged together with the others.
    """
    targets = {run: target for target, run in run_of_column.items()}
    return tuple(
        JoinedColumn(one.broker, tuple(targets[run] for run in one.runs), one.headline)
        for one in found
        if all(run in targets for run in one.runs)
    )
