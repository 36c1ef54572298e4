"""The result of a run: one verdict per requirement, counts, and the one definition of green."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from harness.conformance.journal import Journal
from harness.conformance.missing_rights import MissingRight, rights_in
from harness.conformance.record import CheckRecord, RunHeader
from harness.conformance.verdict import DECIDED, Verdict, worst

NOTHING_PASSED = "No requirement passed, so nothing was shown."


class RunExit(IntEnum):
    """Exit codes of `run`."""

    GREEN = 0
    FAILURES = 1
    USAGE = 2
    INCOMPLETE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementSummary:
    """One requirement of one run: its checks, joined to the worst verdict."""

    requirement: str
    area: str
    level: str
    verdict: Verdict
    checks: tuple[CheckRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The result of a run.

    Attributes:
        header: the run and its target.
        requirements: by id, sorted.
        counts: requirements by verdict, all seven verdicts present.
        missing: (case, requirement) pairs that were planned and left no check.
        retried: (case, requirement) pairs with attempts of different verdicts: a label, never a
            pass, for all attempts are joined.
        defect: why the run did not come to its end, in words; None when it did.
        ended_at_first_contact: the first answers of the broker are wrong, so nothing else was
            judged.
    """

    header: RunHeader
    requirements: Mapping[str, RequirementSummary]
    counts: Mapping[Verdict, int]
    missing: tuple[tuple[str, str], ...]
    retried: tuple[tuple[str, str], ...]
    defect: str | None
    ended_at_first_contact: bool = False

    @property
    def complete(self) -> bool:
        """The run came to its end and everything planned left its checks."""
        return self.defect is None and not self.missing

    @property
    def decided(self) -> frozenset[str]:
        """The requirements that were seen to hold or not to hold."""
        return frozenset(name for name, one in self.requirements.items() if one.verdict in DECIDED)

    @property
    def unproved(self) -> tuple[str, ...]:
        """MUST requirements that are inconclusive."""
        return tuple(
            summary.requirement
            for summary in self.requirements.values()
            if summary.level == "MUST" and summary.verdict is Verdict.INCONCLUSIVE
        )

    @property
    def green(self) -> bool:
        """At least one passed, no failed, no inconclusive MUST, no harness_error, nothing
        planned missing, and the run came to its end."""
        return self.exit_code is RunExit.GREEN

    @property
    def warnings(self) -> Mapping[str, str]:
        """SHOULD requirements that do not hold, each with the first reason."""
        return {
            name: next(check.text for check in one.checks if check.verdict is Verdict.WARNING)
            for name, one in self.requirements.items()
            if one.verdict is Verdict.WARNING
        }

    @property
    def missing_rights(self) -> Mapping[MissingRight, int]:
        """The rights that the user of the run lacks, each with the number of cases that need it."""
        cases: dict[MissingRight, set[str]] = {}
        for one in self.requirements.values():
            for check in one.checks:
                for right in rights_in(check.capability_missing or ""):
                    cases.setdefault(right, set()).add(check.case)
        return {right: len(cases[right]) for right in sorted(cases)}

    @property
    def exit_code(self) -> RunExit:
        """Exit code of the run; a SHOULD that does not hold changes nothing."""
        return self.exit_code_if(strict=False)

    def exit_code_if(self, *, strict: bool) -> RunExit:
        """Exit code of the run; ``strict``: a SHOULD that does not hold counts as a failure.

        An incomplete run and a harness_error come before failures: then not everything was
        judged. An inconclusive MUST comes after them: most often it is what a failure left
        behind in the same test.
        """
        if not self.complete or self.counts[Verdict.HARNESS_ERROR]:
            return RunExit.INCOMPLETE
        if self.counts[Verdict.FAILED] or (strict and self.counts[Verdict.WARNING]):
            return RunExit.FAILURES
        if self.unproved or not self.counts[Verdict.PASSED]:
            return RunExit.INCOMPLETE
        return RunExit.GREEN

    def sentences(self) -> tuple[str, ...]:
        """Everything that keeps the run from being green, one sentence each."""
        found: list[str] = []
        if self.defect is not None:
            found.append(f"The run is incomplete: {self.defect}.")
        if self.ended_at_first_contact:
            found.append(
                "The first answers of the broker are wrong, so the run ended at the first contact."
            )
        if self.missing:
            case, requirement = self.missing[0]
            found.append(
                f"{len(self.missing)} planned checks are missing, first {requirement} in {case}."
            )
        found.extend(
            f"{verdict}: {', '.join(self._ids(verdict))}."
            for verdict in (Verdict.HARNESS_ERROR, Verdict.FAILED)
            if self.counts[verdict]
        )
        if self.unproved:
            found.append(f"MUST requirements are inconclusive: {', '.join(self.unproved)}.")
        if not self.counts[Verdict.PASSED]:
            found.append(NOTHING_PASSED)
        return tuple(found)

    def _ids(self, verdict: Verdict) -> list[str]:
        return [name for name, one in self.requirements.items() if one.verdict is verdict]


def summarize(journal: Journal, *, finished: bool = False) -> RunSummary:
    """Join the checks of a run.

    Args:
        journal: what was recorded.
        finished: the run is about to write its footer, so the lack of one is no defect.
    """
    by_requirement: dict[str, list[CheckRecord]] = {}
    by_pair: dict[tuple[str, str], list[CheckRecord]] = {}
    for check in journal.checks:
        by_requirement.setdefault(check.requirement, []).append(check)
        by_pair.setdefault((check.case, check.requirement), []).append(check)
    requirements = {name: joined_checks(by_requirement[name]) for name in sorted(by_requirement)}
    planned = [(case.case, name) for case in journal.plan for name in case.requirements]
    return RunSummary(
        header=journal.header,
        requirements=requirements,
        counts=counts_by_verdict(requirements),
        missing=tuple(pair for pair in planned if pair not in by_pair),
        retried=tuple(sorted(pair for pair, checks in by_pair.items() if _differ(checks))),
        defect=None if finished else journal.defect,
        ended_at_first_contact=journal.ended_at_first_contact,
    )


def joint_exit_code(summaries: Iterable[RunSummary], *, strict: bool = False) -> RunExit:
    """Exit code of several runs together: the highest; incomplete when there is none."""
    codes = (summary.exit_code_if(strict=strict) for summary in summaries)
    return max(codes, default=RunExit.INCOMPLETE)


def counts_by_verdict(requirements: Mapping[str, RequirementSummary]) -> dict[Verdict, int]:
    """Count the requirements of each verdict; all seven are there."""
    counted = Counter(one.verdict for one in requirements.values())
    return {verdict: counted[verdict] for verdict in Verdict}


def joined_checks(checks: Sequence[CheckRecord]) -> RequirementSummary:
    """Join the checks of one requirement, at least one, to their worst verdict."""
    first = checks[0]
    return RequirementSummary(
        requirement=first.requirement,
        area=first.area,
        level=first.level,
        verdict=worst(check.verdict for check in checks),
        checks=tuple(checks),
    )


def _differ(checks: list[CheckRecord]) -> bool:
    attempts: dict[int, list[Verdict]] = {}
    for check in checks:
        attempts.setdefault(check.attempt, []).append(check.verdict)
    return len({worst(verdicts) for verdicts in attempts.values()}) > 1
