"""The lines of a run without a terminal: start, cases so far, failures, end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.commands.progress import RunProgress
from harness.commands.run_lines import LINE_AFTER_CASES, LINE_AFTER_S, RunLines
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict

CASE = "protocol/test_a.py::test_one[v3]"

FAILED = CheckRecord(
    requirement="A-001",
    area="A",
    level="MUST",
    case=CASE,
    check=1,
    attempt=1,
    api_key=None,
    api_version=None,
    verdict=Verdict.FAILED,
    reason="error is 0, expected 3\nmore",
    capability_missing=None,
    duration_ms=1.0,
    evidence="evidence/a.txt",
    at="2026-01-01T00:00:00+00:00",
)


class Shown:
    """The lines of one target, at times that the test sets."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now_s = 100.0
        self.seen = RunProgress(Path("out/runs/r"))
        self.shown = RunLines("reference", Path("out"), self.lines.append, lambda: self.now_s)

    def take(self, **entry: Any) -> None:
        self.seen.take(json.dumps(entry).encode())

    def plan(self, cases: int, **header: Any) -> None:
        self.take(type="header", **header)
        self.take(type="plan", cases=[{}] * cases)

    def pass_cases(self, cases: range) -> None:
        for number in cases:
            self.take(type="check", case=f"case {number}", verdict="passed")

    def fail(self, **values: Any) -> None:
        self.take(type="check", **FAILED.to_json() | values)

    def new(self) -> list[str]:
        """The lines since the last call, after another look at the run."""
        self.shown.watch(self.seen)
        found, self.lines[:] = list(self.lines), []
        return found


@pytest.fixture
def run() -> Shown:
    made = Shown()
    assert made.new() == ["reference: begins"]
    return made


def test_a_line_comes_after_ten_seconds_and_not_before(run: Shown) -> None:
    run.plan(500)
    run.pass_cases(range(3))
    run.now_s += LINE_AFTER_S - 1
    assert run.new() == []
    run.now_s += 1
    assert run.new() == ["reference: 3 of 500 cases; checks: 3 passed"]
    assert run.new() == []


def test_a_line_comes_after_a_hundred_cases_and_not_before(run: Shown) -> None:
    run.plan(500)
    run.pass_cases(range(LINE_AFTER_CASES - 1))
    assert run.new() == []
    run.pass_cases(range(LINE_AFTER_CASES))
    assert run.new() == ["reference: 100 of 500 cases; checks: 199 passed"]


def test_the_step_that_the_run_waits_for_is_shown_before_there_is_a_plan(run: Shown) -> None:
    run.now_s += LINE_AFTER_S
    assert run.new() == ["reference: the target starts"]
    run.take(type="header")
    run.now_s += LINE_AFTER_S
    assert run.new() == ["reference: the tests are collected"]


def test_a_failure_comes_at_once_with_evidence_and_command(run: Shown) -> None:
    run.plan(2)
    run.fail()
    assert run.new() == [
        f"reference: FAILED A-001 in {CASE}: error is 0, expected 3",
        "reference:   evidence: out/runs/r/evidence/a.txt",
        f"reference:   again: kafka-conformance run --target reference --case '{CASE}' --out out",
    ]


def test_a_requirement_is_shown_once_a_case_and_begins_with_its_subtest(run: Shown) -> None:
    run.plan(2)
    run.fail(subtest="v0")
    run.fail(subtest="v1")
    run.fail(requirement="A-002", verdict="harness_error", evidence=None)
    begins = [line.removeprefix("reference: ") for line in run.new() if "again" not in line]
    assert begins == [
        f"FAILED A-001 in {CASE}: v0: error is 0, expected 3",
        "  evidence: out/runs/r/evidence/a.txt",
        f"HARNESS_ERROR A-002 in {CASE}: error is 0, expected 3",
    ]


@pytest.mark.parametrize(
    ("header", "options"),
    [({"greases": True}, "--grease "), ({"seed": 7}, "--seed 7 "), ({}, "")],
)
def test_the_command_has_the_options_of_the_run(
    run: Shown, header: dict[str, Any], options: str
) -> None:
    run.plan(1, **header)
    run.fail()
    assert run.new()[-1].endswith(f"--case '{CASE}' {options}--out out")


def test_warnings_and_inconclusive_checks_wait_for_the_summary(run: Shown) -> None:
    run.plan(2)
    run.fail(verdict="warning")
    run.fail(verdict="inconclusive")
    assert run.new() == []


def test_the_last_line_has_the_time_and_all_counts(run: Shown) -> None:
    run.plan(2)
    run.pass_cases(range(2))
    run.now_s += 4.4
    run.new()
    run.shown.end()
    assert run.lines == ["reference: ended after 4 s; 2 of 2 cases; checks: 2 passed"]
