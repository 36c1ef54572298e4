"""Requirements with different verdicts in several rounds."""

from __future__ import annotations

from checks.same_verdicts import differences
from harness.conformance.verdict import Verdict

PASSED, FAILED = Verdict.PASSED, Verdict.FAILED


def test_requirement_with_differing_verdicts_is_listed_with_all_verdicts() -> None:
    rounds = [{"A-1": PASSED, "B-1": PASSED}, {"A-1": PASSED, "B-1": FAILED}, {"A-1": PASSED}]
    assert differences(rounds) == ["B-1: passed, failed, None"]


def test_equal_rounds_have_no_differences() -> None:
    assert differences([{"A-1": FAILED}, {"A-1": FAILED}]) == []
