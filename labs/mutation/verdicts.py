"""The verdict on a mutant, from the checks of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from labs.defects.written_checks import FAILING
from labs.mutation.mutant import Mutant

UNDECIDED = ("inconclusive", "harness_error")


class Fate(StrEnum):
    """The fate of a mutant: `NOTICED` has those that count as noticed."""

    NOTICED = "noticed by a check of its area"
    ELSEWHERE = "noticed by a check of another area"
    GONE = "the broker hung or ended"
    OTHER_TARGET = "noticed by a test of another target"
    UNDECIDED = "only inconclusive checks or errors of the harness"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    NOT_REACHED = "no test executes it"


NOTICED = frozenset({Fate.NOTICED, Fate.ELSEWHERE, Fate.GONE, Fate.OTHER_TARGET})


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """One mutant with its verdict.

    Attributes:
        requirement, reason, case: of the first check that failed, empty without one.
        tests: the number of tests that ran.
        seconds: the wall clock of its run.
    """

    mutant: Mutant
    verdict: Fate
    requirement: str = ""
    reason: str = ""
    case: str = ""
    tests: int = 0
    seconds: float = 0.0


def judge(
    mutant: Mutant, checks: Sequence[dict[str, str]], areas: frozenset[str], died: bool
) -> JudgedMutant:
    """Return the verdict; ``areas``: those that a mutant of its module belongs to."""
    failed = [one for one in checks if one["verdict"] in FAILING]
    own = [one for one in failed if one["area"] in areas]
    first = next(iter([*own, *failed]), None)
    tests = len({one["case"] for one in checks})
    if first is not None:
        verdict = Fate.NOTICED if own else Fate.ELSEWHERE
        if died or "no longer answers at all" in first["reason"]:
            verdict = Fate.GONE
        what = (first["requirement"], first["reason"], first["case"])
        return JudgedMutant(mutant, verdict, *what, tests)
    if died:
        return JudgedMutant(mutant, Fate.GONE, tests=tests)
    if any(one["verdict"] in UNDECIDED for one in checks):
        return JudgedMutant(mutant, Fate.UNDECIDED, tests=tests)
    return JudgedMutant(mutant, Fate.SURVIVED, tests=tests)
