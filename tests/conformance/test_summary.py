from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.journal import Journal
from harness.conformance.record import CheckRecord, Footer
from harness.conformance.summary import RunExit, RunSummary, joint_exit_code, summarize
from harness.conformance.verdict import Verdict, worst
from tests.conformance.made import check, header, plan_of

V = Verdict


def journal_of(
    checks: Sequence[CheckRecord], planned: Sequence[CheckRecord] = (), footer: bool = True
) -> Journal:
    end = Footer(finished_at="2026-05-01T10:01:00+00:00", checks=len(checks), exit=0)
    return Journal(
        header=header(),
        plan=plan_of([*checks, *planned]),
        checks=tuple(checks),
        footer=end if footer else None,
    )


def summary_of(*checks: CheckRecord) -> RunSummary:
    return summarize(journal_of(checks))


def test_requirement_takes_worst_verdict_of_its_checks() -> None:
    run = summary_of(
        check("CONN-001", V.PASSED, case="a"),
        check("CONN-001", V.NOT_SUPPORTED, case="b"),
        check("CONN-002", V.PASSED, case="a"),
        check("CONN-002", V.FAILED, case="b"),
    )
    assert {name: one.verdict for name, one in run.requirements.items()} == {
        "CONN-001": V.PASSED,
        "CONN-002": V.FAILED,
    }
    assert [part.case for part in run.requirements["CONN-001"].checks] == ["a", "b"]
    assert run.counts[V.PASSED] == run.counts[V.FAILED] == 1
    assert set(run.counts) == set(V)


PASS = check("CONN-001")


@pytest.mark.parametrize(
    ("others", "expected", "sentence"),
    [
        ([], RunExit.GREEN, ""),
        ([check("CONN-002", V.WARNING, level="SHOULD")], RunExit.GREEN, ""),
        ([check("CONN-002", V.INCONCLUSIVE, level="SHOULD")], RunExit.GREEN, ""),
        ([check("CONN-002", V.NOT_SUPPORTED)], RunExit.GREEN, ""),
        ([check("CONN-002", V.NOT_APPLICABLE)], RunExit.GREEN, ""),
        ([check("CONN-002", V.FAILED)], RunExit.FAILURES, "failed: CONN-002."),
        (
            [check("CONN-002", V.FAILED), check("CONN-003", V.INCONCLUSIVE)],
            RunExit.FAILURES,
            "inconclusive: CONN-003.",
        ),
        ([check("CONN-002", V.INCONCLUSIVE)], RunExit.INCOMPLETE, "inconclusive: CONN-002."),
        ([check("CONN-002", V.HARNESS_ERROR)], RunExit.INCOMPLETE, "harness_error: CONN-002."),
        (
            [check("CONN-002", V.HARNESS_ERROR), check("CONN-003", V.FAILED)],
            RunExit.INCOMPLETE,
            "failed: CONN-003.",
        ),
    ],
)
def test_exit_code_and_sentences_follow_verdicts(
    others: list[CheckRecord], expected: RunExit, sentence: str
) -> None:
    run = summary_of(PASS, *others)
    assert run.exit_code is expected
    assert run.green == (expected is RunExit.GREEN)
    assert (run.sentences() == ()) == run.green
    assert sentence in " ".join(run.sentences())


@pytest.mark.parametrize("checks", [[], [check(verdict=V.NOT_APPLICABLE)]])
def test_run_without_passed_requirement_is_incomplete(checks: list[CheckRecord]) -> None:
    run = summary_of(*checks)
    assert run.exit_code is RunExit.INCOMPLETE
    assert "No requirement passed, so nothing was shown." in run.sentences()


def test_planned_check_without_record_makes_run_incomplete() -> None:
    gone = check("CONN-002", case="test_x.py::test_gone")
    run = summarize(journal_of([PASS, check("CONN-002", case="elsewhere")], planned=[gone]))
    assert run.missing == (("test_x.py::test_gone", "CONN-002"),)
    assert not run.complete
    assert run.exit_code is RunExit.INCOMPLETE
    assert "1 planned checks are missing, first CONN-002" in run.sentences()[0]


def test_warning_fails_strict_run_and_is_named_with_first_reason() -> None:
    soft = check("CONN-002", V.WARNING, level="SHOULD", reason="late")
    run = summary_of(PASS, soft, check("CONN-002", V.WARNING, level="SHOULD", case="b"))
    assert run.warnings == {"CONN-002": "late"}
    assert run.exit_code_if(strict=True) is RunExit.FAILURES
    assert joint_exit_code([run], strict=True) is RunExit.FAILURES
    assert run.exit_code is joint_exit_code([run]) is RunExit.GREEN
    assert summary_of(PASS).exit_code_if(strict=True) is RunExit.GREEN


def test_run_without_footer_is_incomplete_unless_marked_finished() -> None:
    journal = journal_of([PASS], footer=False)
    assert summarize(journal).exit_code is RunExit.INCOMPLETE
    assert "no footer" in summarize(journal).sentences()[0]
    assert summarize(journal, finished=True).exit_code is RunExit.GREEN


def test_pass_at_second_attempt_stays_failed_and_is_labelled_retried() -> None:
    run = summary_of(
        PASS,
        check("CONN-002", V.FAILED, case="a", attempt=1),
        check("CONN-002", V.PASSED, case="a", attempt=2),
        check("CONN-003", V.WARNING, case="a", attempt=1),
        check("CONN-003", V.PASSED, case="a", attempt=1),
        check("CONN-003", V.PASSED, case="a", attempt=2),
        check("CONN-003", V.WARNING, case="a", attempt=2),
    )
    assert run.requirements["CONN-002"].verdict is V.FAILED
    assert run.retried == (("a", "CONN-002"),)


def test_joint_exit_code_is_highest_of_runs() -> None:
    green, red = summary_of(PASS), summary_of(check(verdict=V.FAILED))
    assert joint_exit_code([green]) is RunExit.GREEN
    assert joint_exit_code([green, red]) is RunExit.FAILURES
    assert joint_exit_code([red, summary_of()]) is RunExit.INCOMPLETE
    assert joint_exit_code([]) is RunExit.INCOMPLETE


checks = st.lists(
    st.builds(
        check,
        st.sampled_from(["CONN-001", "CONN-002", "CONN-003"]),
        st.sampled_from(Verdict),
        case=st.sampled_from(["a", "b"]),
    )
)


@given(checks)
def test_green_equals_definition_for_any_checks(made: list[CheckRecord]) -> None:
    joined = {
        name: worst(one.verdict for one in made if one.requirement == name)
        for name in {one.requirement for one in made}
    }
    bad = {V.FAILED, V.HARNESS_ERROR, V.INCONCLUSIVE}
    green = V.PASSED in joined.values() and not bad & set(joined.values())
    assert summary_of(*made).green == green
