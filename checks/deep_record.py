"""``docs/deep-runs.tsv``: one line for each run of a slice at depth.

The gate prints how old the newest green line of each part is, and warns where files that the part
checks have changed since.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from checks.draw import ROOT, Draw, changed_since, head, is_clean
from checks.part import Part
from checks.part_run import Result, SliceRow

NAME = "docs/deep-runs.tsv"
FILE = ROOT / NAME
WITH_CHANGES = "+changes"
SHOWN_PATHS = 3


@dataclass(frozen=True, slots=True)
class DeepRun:
    """One line. ``part``: the slice's name; ``seeds``: ``FIRST..LAST``; ``at``: UTC."""

    commit: str
    at: str
    part: str
    counts: str
    seeds: str
    seconds: str
    verdict: str

    @property
    def is_green(self) -> bool:
        """True if it passed, at a commit without further changes."""
        return self.verdict == Result.PASSED.value and not self.commit.endswith(WITH_CHANGES)


def deep_run(row: SliceRow, draw: Draw) -> DeepRun:
    """The line for a slice that was run now."""
    seeds = row.slice.seeds(draw)
    return DeepRun(
        commit=head() + ("" if is_clean(NAME) else WITH_CHANGES),
        at=f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}",
        part=row.slice.name,
        counts=row.counts or "-",
        seeds=f"{seeds[0]}..{seeds[-1]}",
        seconds=f"{row.seconds:.0f}",
        verdict=row.result.value,
    )


def append(run: DeepRun, file: Path = FILE) -> None:
    """Add a line, and the heading to a new file."""
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as out:
        lines = csv.writer(out, delimiter="\t", lineterminator="\n")
        if is_new:
            lines.writerow(field.name for field in fields(DeepRun))
        lines.writerow(astuple(run))


def read(file: Path = FILE) -> list[DeepRun]:
    """All lines, oldest first. Raises ValueError for a line that has not all columns."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))[1:]
    names = [field.name for field in fields(DeepRun)]
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise ValueError(f"{file}:{number} has {len(row)} columns instead of {len(names)}")
    return [DeepRun(*row) for row in rows]


def ages(parts: Iterable[Part], runs: Sequence[DeepRun], now: datetime) -> list[str]:
    """One line a part: the age of its oldest newest-green slice, or which slices never were."""
    return [_age(part, runs, now) for part in parts]


def _age(part: Part, runs: Sequence[DeepRun], now: datetime) -> str:
    newest = {}
    for run in runs:
        name, _, cut = run.part.partition(":")
        if name == part.name and run.is_green and _is_of(cut, part):
            newest[run.part] = run
    missing = part.slices - len(newest)
    if missing:
        return f"{part.name}: {missing} of {part.slices} slices have no green run on record"
    oldest = min(newest.values(), key=lambda run: run.at)
    days = (now - datetime.fromisoformat(oldest.at)).days
    line = f"{part.name}: green {days} days ago at {oldest.commit[:8]}"
    changed = changed_since(oldest.commit)
    if changed is None:
        return f"{line}, a commit that is not in this repository"
    touched = [path for path in changed if path.startswith(part.rooms or ("",))]
    if not touched:
        return line
    more = f" and {len(touched) - SHOWN_PATHS} more" if len(touched) > SHOWN_PATHS else ""
    return f"{line}; WARNING: changed since: {', '.join(touched[:SHOWN_PATHS])}{more}"


def _is_of(cut: str, part: Part) -> bool:
    """True if a slice ``2/6`` is one of the part's present slices."""
    return cut == "" if part.slices == 1 else cut.endswith(f"/{part.slices}")
