"""Flaky: the same release of the same target keeps a requirement and breaks it, without a cause.

All runs of one release are put in a row by their start, and each case's attempts within them. A
case is flaky when it goes from holding to broken *and* from broken to holding in that row: a single
direction may be a change of the broker's surroundings or of the suite. Attempts within a run that
disagree count as both directions, since nothing was changed between them.

The label changes no verdict. It means that a regression or a pass may be chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.conformance.journal import Journal
from harness.conformance.record import CheckRecord, RunHeader
from harness.conformance.verdict import BROKEN, DECIDED, Verdict, worst


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """The verdict of one attempt of a case for one requirement."""

    run: str
    attempt: int
    verdict: Verdict

    @property
    def broken(self) -> bool:
        """It did not hold."""
        return self.verdict in BROKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Flake:
    """One case of one requirement that goes both ways on one release.

    Attributes:
        target, implementation, release: on what.
        requirement, case: what.
        sightings: every decided attempt, in order of time.
    """

    target: str
    implementation: str
    release: str
    requirement: str
    case: str
    sightings: tuple[Sighting, ...]

    def of_release(self, header: RunHeader) -> bool:
        """It was seen on what this run judged."""
        return (self.target, self.implementation, self.release) == _release(header)


def flakes_in(runs: Iterable[Journal]) -> tuple[Flake, ...]:
    """The flaky cases of all runs together, sorted; a run that is given twice counts once."""
    once = {run.header.run: run for run in runs}
    ordered = sorted(once.values(), key=lambda run: run.order)
    rows: dict[tuple[str, ...], list[Sighting]] = {}
    for run in ordered:
        for (requirement, case), sightings in _sightings(run).items():
            rows.setdefault((*_release(run.header), requirement, case), []).extend(sightings)
    return tuple(_flake(key, row) for key, row in sorted(rows.items()) if goes_both_ways(row))


def goes_both_ways(row: Sequence[Sighting]) -> bool:
    """A row of sightings has steps in both directions, or attempts of one run that disagree."""
    steps = [(one, two) for one, two in pairwise(row) if one.broken != two.broken]
    within_a_run = any(one.run == two.run for one, two in steps)
    return within_a_run or {one.broken for one, _ in steps} == {True, False}


def _sightings(run: Journal) -> dict[tuple[str, str], list[Sighting]]:
    found: dict[tuple[str, str], dict[int, list[CheckRecord]]] = {}
    for check in run.checks:
        if check.verdict in DECIDED:
            attempts = found.setdefault((check.requirement, check.case), {})
            attempts.setdefault(check.attempt, []).append(check)
    return {
        pair: [
            Sighting(
                run=run.header.run,
                attempt=attempt,
                verdict=worst(check.verdict for check in checks),
            )
            for attempt, checks in sorted(attempts.items())
        ]
        for pair, attempts in found.items()
    }


def _release(header: RunHeader) -> tuple[str, str, str]:
    return header.target, header.implementation, header.release


def _flake(key: tuple[str, ...], row: Sequence[Sighting]) -> Flake:
    target, implementation, release, requirement, case = key
    return Flake(
        target=target,
        implementation=implementation,
        release=release,
        requirement=requirement,
        case=case,
        sightings=tuple(row),
    )
