"""Requirements with different verdicts in several rounds."""

from __future__ import annotations

from checks.same_verdicts import differences
from harness.conformance.verdict import Verdict

PASSED, FAILED = Verdict.PASSED, Verdict.FAILED


def test_a_requirement_that_differs_once_is_named_with_all_its_verdicts() -> None:
    rounds = [{"A-1": PASSED, "B-1": PASSED}, {"A-1": PASSED, "B-1": FAILED}, {"A-1": PASSED}]
    assert differences(rounds) == ["B-1: passed, failed, None"]


def test_rounds_that_are_alike_differ_in_nothing() -> None:
    assert differences([{"A-1": FAILED}, {"A-1": FAILED}]) == []
