"""Judgement of one row of the defect table: the verdicts with the defect and without.

A defect is killed when exactly its requirement fails, for the stated reason, and every other
requirement that is watched has the verdict that it has without the defect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from harness.conformance.summary import RunSummary
from harness.conformance.verdict import Verdict
from labs.defects.defect import Defect

Changes = Mapping[str, tuple[Verdict | None, Verdict | None]]

SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """One row of the table; ``problem`` is empty when the defect was killed as it should be.

    ``changed``: requirement to its verdict without and with the defect, if they differ.
    ``first_problem``: the problem of the first look, if this is the second one.
    """

    defect: Defect
    reason: str
    problem: str
    changed: Changes = field(default_factory=dict)
    first_problem: str = ""

    @property
    def killed(self) -> bool:
        return not self.problem


def judge(
    defect: Defect,
    baseline: RunSummary,
    found: RunSummary,
    watched: str,
    *,
    ends_at_failure: bool = False,
) -> RowOutcome:
    """Compare the runs with and without the defect, for the requirements of a pattern.

    ``ends_at_failure``: the run ended at its first failed check, so later ones are missing.
    """
    changed = _changed(_verdicts(baseline, watched), _verdicts(found, watched))
    outcome = _judged(defect, found, changed, ends_at_failure=ends_at_failure)
    return replace(outcome, changed=changed)


def _judged(
    defect: Defect, found: RunSummary, changed: Changes, *, ends_at_failure: bool
) -> RowOutcome:
    own = found.requirements.get(defect.requirement)
    if own is None:
        return RowOutcome(defect, "", f"no test judges {defect.requirement}")
    failed = [c for c in own.checks if c.verdict in (Verdict.FAILED, Verdict.WARNING)]
    is_cut = bool(found.missing) and not (ends_at_failure and failed)
    if found.defect or is_cut:
        return RowOutcome(defect, "", f"the run is not whole: {'; '.join(found.sentences())}")
    if not failed:
        return RowOutcome(defect, "", f"not noticed: {defect.requirement} is {own.verdict}")
    reason = failed[0].text
    strange = next((c.text for c in failed if not re.search(defect.reason, c.text)), None)
    if strange is not None:
        seen = strange.partition("\n")[0][:SHOWN_CHARACTERS]
        problem = f"noticed for another reason than /{defect.reason}/: {seen}"
        return RowOutcome(defect, strange, problem)
    expected = {defect.requirement, *defect.also}
    others = {name: pair for name, pair in changed.items() if name not in expected}
    if others:
        shown = ", ".join(f"{name}: {was} -> {now}" for name, (was, now) in others.items())
        return RowOutcome(defect, reason, f"not alone: {shown}")
    return RowOutcome(defect, reason, "")


def _verdicts(summary: RunSummary, watched: str) -> dict[str, Verdict]:
    every = summary.requirements.items()
    return {name: one.verdict for name, one in every if fnmatchcase(name, watched)}


def _changed(before: Mapping[str, Verdict], after: Mapping[str, Verdict]) -> Changes:
    names = sorted(set(before) | set(after))
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
