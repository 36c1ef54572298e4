"""The cases of one side of a comparison: those that its run asked, and why it did not ask others.

A run asks the cases of its plan, which follows from its suites, ``--requirement``, ``--case`` and
``--versions``. A case also counts as not asked if the target lacks a capability for it, or is a
release that need not keep the requirement.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from harness.conformance.dated_reason import DatedReason
from harness.conformance.headline import OF_TARGET
from harness.conformance.journal import Journal
from harness.conformance.record import CheckRecord
from harness.conformance.summary import RequirementSummary, RunSummary, summarize
from harness.conformance.verdict import Verdict, worst

Cases: TypeAlias = Mapping[str, Verdict | None]
"""Case to its joined verdict; None: it was planned and left no check."""

NO_RUN = "there is no run of this target"
NOT_PLANNED = (
    "the run did not plan these cases (other suites, --requirement, --case, --versions, or another "
    "catalogue)"
)


class RunSide:
    """One run, or none."""

    def __init__(self, run: Journal | None) -> None:
        self.run = run
        self.summary: RunSummary | None = summarize(run) if run else None
        self._planned: dict[str, list[str]] = {}
        for planned in run.plan if run else ():
            for name in planned.requirements:
                self._planned.setdefault(name, []).append(planned.case)

    @property
    def requirements(self) -> Mapping[str, RequirementSummary]:
        """Those with a check."""
        return self.summary.requirements if self.summary else {}

    @property
    def has_chosen(self) -> bool:
        """True if the plan shows what was selected: the run came to it."""
        return self.run is None or bool(self.run.plan and not self.run.ended_at_first_contact)

    def cases(self, requirement: str) -> dict[str, Verdict | None]:
        """All cases of a requirement, planned or with a check."""
        cases: dict[str, Verdict | None] = dict.fromkeys(self._planned.get(requirement, ()))
        verdicts: dict[str, list[Verdict]] = {}
        for check in self._checks(requirement):
            verdicts.setdefault(check.case, []).append(check.verdict)
        return cases | {case: worst(found) for case, found in verdicts.items()}

    def why_not_asked(
        self, requirement: str, asked: Collection[str], *, other_release: bool
    ) -> str | None:
        """Return the reason why this run did not ask cases that the other run asked.

        None: it asked some of them. ``other_release``: the runs judge different releases, so the
        dates of the catalogue decide.
        """
        if self.run is None:
            return NO_RUN
        if not self.has_chosen:
            return None
        cases = self.cases(requirement)
        if not cases or (same_tests(asked, cases) and not cases.keys() & set(asked)):
            return NOT_PLANNED
        chosen = cases.keys() & set(asked) or cases.keys()
        checks = [check for check in self._checks(requirement) if check.case in chosen]
        excused = [check for check in checks if _is_excused(check, other_release=other_release)]
        if excused and len(excused) == len(checks) and all(cases[case] for case in chosen):
            return excused[0].reason
        return None

    def _checks(self, requirement: str) -> tuple[CheckRecord, ...]:
        found = self.requirements.get(requirement)
        return found.checks if found else ()


def same_tests(one: Collection[str], other: Collection[str]) -> bool:
    """True if a test has cases in both; a renamed test, or another one, has none."""
    return bool({_test(case) for case in one} & {_test(case) for case in other})


def _test(case: str) -> str:
    return case.partition("[")[0]


def _is_excused(check: CheckRecord, *, other_release: bool) -> bool:
    if check.verdict is Verdict.NOT_APPLICABLE:
        return check.capability_missing in OF_TARGET
    by_date = DatedReason.read(check.reason) is not None
    return check.verdict is Verdict.NOT_SUPPORTED and other_release and by_date
