"""The verdict over a row, also from a run that ended at its first failed check."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.conformance.summary import RequirementSummary, RunSummary
from harness.conformance.verdict import Verdict
from labs.defects.defect import Defect
from labs.defects.outcome import judge

OWN, OTHER = "META-001", "META-002"
DEFECT = cast("Defect", SimpleNamespace(requirement=OWN, reason="two brokers", also=()))
DEFECT_OF_BOTH = cast(
    "Defect", SimpleNamespace(requirement=OWN, reason="two brokers", also=(OTHER,))
)
MISSING = (("metadata/test_metadata.py::test_b", OWN),)


def run(*texts: str, missing: tuple[tuple[str, str], ...] = ()) -> RunSummary:
    """Return a run with a check of OWN for each text; it failed unless the text is empty."""
    verdicts = [Verdict.FAILED if text else Verdict.PASSED for text in texts]
    checks = [
        SimpleNamespace(verdict=verdict, text=text)
        for verdict, text in zip(verdicts, texts, strict=True)
    ]
    worst = Verdict.FAILED if any(texts) else Verdict.PASSED
    own = RequirementSummary(
        requirement=OWN,
        area="META",
        level="MUST",
        verdict=worst,
        checks=cast("Any", tuple(checks)),
    )
    return RunSummary(
        header=cast("Any", None),
        requirements={OWN: own},
        counts=dict.fromkeys(Verdict, 0),
        missing=missing,
        retried=(),
        defect=None,
    )


def test_row_is_killed_by_failed_check_that_ended_its_run() -> None:
    found = run("", "two brokers are listed", missing=MISSING)
    assert judge(DEFECT, run(""), found, OWN, ends_at_failure=True).killed


@pytest.mark.parametrize(
    ("found", "ends_at_failure", "problem"),
    [
        (run("two brokers", missing=MISSING), False, "the run is not whole"),
        (run("", missing=MISSING), True, "the run is not whole"),
        (run("the port is 0", missing=MISSING), True, "noticed for another reason"),
        (run("two brokers", "the port is 0"), False, "noticed for another reason"),
        (run("", ""), True, "not noticed"),
    ],
    ids=["lacks-checks", "lacks-checks-without-failure", "other-reason", "other-reason-later",
         "not-noticed"],
)  # fmt: skip
def test_row_is_not_killed(found: RunSummary, ends_at_failure: bool, problem: str) -> None:
    outcome = judge(DEFECT, run(""), found, OWN, ends_at_failure=ends_at_failure)
    assert not outcome.killed
    assert problem in outcome.problem


@pytest.mark.parametrize(
    ("defect", "problem"),
    [(DEFECT, f"not alone: {OTHER}: passed -> failed"), (DEFECT_OF_BOTH, "")],
    ids=["not-named", "named"],
)
def test_other_requirement_may_fail_only_if_the_row_names_it(defect: Defect, problem: str) -> None:
    baseline, found = _with_other(run("")), _with_other(run("two brokers"))
    assert judge(defect, baseline, found, "META-*").problem == problem


def _with_other(summary: RunSummary) -> RunSummary:
    """Return a run in which OTHER has the verdict of OWN."""
    own = summary.requirements[OWN]
    return replace(summary, requirements={OWN: own, OTHER: replace(own, requirement=OTHER)})
