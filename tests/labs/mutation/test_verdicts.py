"""The verdict on a mutant, from the checks of its run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labs.defects.written_checks import checks_in
from labs.mutation.mutant import Mutant
from labs.mutation.verdicts import Fate, judge

MUTANT = Mutant("boundary", "harness.reference_broker.state.log", "f", 1, 0, 0, "a < b", "a <= b")


def _check(verdict: str, area: str = "PROD", reason: str = "") -> dict[str, str]:
    return {
        "type": "check",
        "verdict": verdict,
        "area": area,
        "requirement": f"{area}-001",
        "reason": reason,
        "case": "a",
    }


@pytest.mark.parametrize(
    ("checks", "died", "verdict"),
    [
        ([_check("passed")], False, Fate.SURVIVED),
        ([_check("failed")], False, Fate.NOTICED),
        ([_check("warning")], False, Fate.NOTICED),
        ([_check("failed", "META")], False, Fate.ELSEWHERE),
        ([_check("failed", "META"), _check("failed")], False, Fate.NOTICED),
        ([_check("inconclusive"), _check("passed")], False, Fate.UNDECIDED),
        ([_check("harness_error")], False, Fate.UNDECIDED),
        ([_check("failed", reason="it no longer answers at all")], False, Fate.GONE),
        ([], True, Fate.GONE),
    ],
)
def test_checks_decide_verdict(checks: list[dict[str, str]], died: bool, verdict: Fate) -> None:
    assert judge(MUTANT, checks, frozenset({"PROD"}), died).verdict is verdict


def test_cut_line_of_growing_journal_is_left_out(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text(json.dumps(_check("passed")) + '\n{"type": "chec', "utf-8")
    assert [one["verdict"] for one in checks_in(journal)] == ["passed"]
    assert list(checks_in(tmp_path / "none")) == []
