"""The results of a run: printed, and written to a file by which an interrupted run goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click

from labs.mutation.equivalent import KnownEquivalents
from labs.mutation.mutant import Mutant
from labs.mutation.score import line_of
from labs.mutation.verdicts import NOTICED, Fate, JudgedMutant


class OtherSample(ValueError):
    """A file has a mutant of another sample, or of other source."""


@dataclass(slots=True)
class MutantReport:
    """Prints each result and appends it to a file. ``out``: None for no file."""

    known: KnownEquivalents
    out: Path | None
    judged: list[JudgedMutant] = field(default_factory=list)

    def add(self, one: JudgedMutant) -> None:
        """Report one mutant."""
        one = self.known.reviewed(one)
        self.judged.append(one)
        click.echo(line_of(one))
        if self.out is not None:
            with self.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")

    def left_of(self, chosen: Sequence[Mutant]) -> list[Mutant]:
        """Return the mutants without a result in the file; the results of the others count.

        Raises OtherSample, OSError.
        """
        known = []
        if self.out is not None and self.out.exists():
            _drop_cut_line(self.out)
            known = judged_in(self.out)
        there = set(chosen)
        for one in known:
            if one.mutant not in there:
                raise OtherSample(f"{self.out} has {one.mutant.name}, which is not in the sample")
        self.judged += [self.known.reviewed(one) for one in known]
        done = {one.mutant for one in known}
        return [one for one in chosen if one not in done]


def noticed_elsewhere(
    judged: Sequence[JudgedMutant], others: Sequence[JudgedMutant]
) -> list[JudgedMutant]:
    """Return the results, survivors that another target's tests have noticed as such."""
    by_name = {one.mutant.name: one for one in others if one.verdict in NOTICED}
    found = []
    for one in judged:
        other = by_name.get(one.mutant.name)
        if one.verdict in NOTICED or other is None:
            found.append(one)
        else:
            what = (other.requirement, other.reason, other.case)
            found.append(JudgedMutant(one.mutant, Fate.OTHER_TARGET, *what, one.tests))
    return found


def survivors_in(file: Path) -> list[Mutant]:
    """Return the mutants of a file of results that were not noticed. Raises OSError."""
    return [one.mutant for one in judged_in(file) if one.verdict not in NOTICED]


def judged_in(file: Path) -> list[JudgedMutant]:
    """Return the results in a file. Raises OSError."""
    found = []
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        mutant, verdict = Mutant(**row.pop("mutant")), Fate(row.pop("verdict"))
        found.append(JudgedMutant(mutant, verdict, **row))
    return found


def _drop_cut_line(file: Path) -> None:
    """Remove what follows the last newline: the run was ended while it wrote it."""
    data = file.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        file.write_bytes(whole)
