"""The verdict over a row, also from a run that ended at its first failed check."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.conformance.summary import RequirementSummary, RunSummary
from harness.conformance.verdict import Verdict
from labs.defects.defect import Defect
from labs.defects.outcome import judge

OWN = "META-001"
DEFECT = cast("Defect", SimpleNamespace(requirement=OWN, reason="two brokers"))
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
