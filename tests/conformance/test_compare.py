"""Changes of requirements between two runs, and verdicts that vary on one release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from harness.conformance.compare import (
    ChangeKind,
    ComparedRuns,
    CompareExit,
    Comparison,
    compare,
)
from harness.conformance.compare_scope import NO_RUN
from harness.conformance.flaky import Sighting, flakes_in, goes_both_ways
from harness.conformance.journal import FIRST_CONTACT, Journal
from harness.conformance.record import CheckRecord, Footer
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, plan_of

V = Verdict
HOLDS, BROKEN = {V.PASSED}, {V.FAILED, V.WARNING}


def run_of(
    *checks: CheckRecord,
    run: str = "r1",
    hour: int = 10,
    target: str = "reference",
    release: str = "4.4.0",
    planned: Sequence[CheckRecord] = (),
) -> Journal:
    about = header(run=run, target=target, started_at=f"2026-05-01T{hour:02}:00:00+00:00")
    return Journal(
        header=replace(about, release=release),
        plan=plan_of([*checks, *planned]),
        checks=checks,
        footer=Footer(finished_at="2026-05-01T23:01:00+00:00", checks=len(checks), exit=0),
    )


def after(*checks: CheckRecord, planned: Sequence[CheckRecord] = ()) -> Journal:
    return run_of(*checks, run="r2", hour=11, planned=planned)


def only(found: ComparedRuns) -> Comparison:
    (one,) = found.comparisons
    return one


def kinds(found: ComparedRuns) -> dict[str, str]:
    return {change.requirement: change.kind.value for change in only(found).changes}


def _wanted(before: Verdict | None, now: Verdict | None) -> str | None:
    """Return the kind of change, by the table of the documentation."""
    state = ["holds" if v in HOLDS else "broken" if v in BROKEN else "?" for v in (before, now)]
    return {
        ("holds", "broken"): "regressed",
        ("broken", "holds"): "fixed",
        ("holds", "?"): "vanished",
        ("broken", "?"): "vanished",
        ("?", "holds"): "new",
        ("?", "broken"): "new",
    }.get((state[0], state[1]))


@pytest.mark.parametrize(("before", "now"), list(product([None, *V], repeat=2)))
def test_compare_classifies_every_pair_of_verdicts(
    before: Verdict | None, now: Verdict | None
) -> None:
    old = run_of(*([check("PROD-001", before)] if before else []))
    new = after(*([check("PROD-001", now)] if now else []))
    found = compare([old], [new])
    wanted = _wanted(before, now)
    assert kinds(found) == ({"PROD-001": wanted} if wanted else {})
    worse = wanted in ("regressed", "vanished")
    assert found.exit_code == (CompareExit.WORSE if worse else CompareExit.NOTHING_WORSE)
    assert only(found).unchanged == (0 if wanted or not (before or now) else 1)


def test_regression_contains_cases_reason_and_both_verdicts() -> None:
    old = run_of(check("PROD-001", case="a"), check("PROD-001", case="b"))
    new = after(check("PROD-001", V.FAILED, case="b", reason="3 is not 4"), check(case="a"))
    (change,) = [c for c in only(compare([old], [new])).changes if c.requirement == "PROD-001"]
    assert (change.cases, change.reason) == (("b",), "3 is not 4")
    assert (change.before, change.after) == (V.PASSED, V.FAILED)


def test_fixed_change_contains_reason_of_old_failure() -> None:
    old = run_of(check("PROD-001", V.FAILED, reason="3 is not 4"))
    (change,) = only(compare([old], [after(check("PROD-001"))])).changes
    assert (change.kind, change.reason) == (ChangeKind.FIXED, "3 is not 4")


def test_additional_failing_case_is_regression() -> None:
    """The joined verdict is failed both times; one case more fails."""
    old = run_of(check(case="v3", verdict=V.FAILED), check(case="v4"))
    new = after(check(case="v3", verdict=V.FAILED), check(case="v4", verdict=V.FAILED))
    (change,) = only(compare([old], [new])).changes
    assert (change.kind, change.cases) == (ChangeKind.REGRESSED, ("v4",))


def test_case_of_version_no_longer_advertised_is_vanished() -> None:
    old = run_of(check(case="v3"), check(case="v4"))
    new = after(check(case="v3"), check(case="v4", verdict=V.NOT_SUPPORTED))
    (change,) = only(compare([old], [new])).changes
    assert (change.kind, change.cases) == (ChangeKind.VANISHED, ("v4",))
    assert (change.before, change.after) == (V.PASSED, V.PASSED)


def test_planned_case_without_check_is_vanished() -> None:
    old = run_of(check(case="v3"), check(case="v4"))
    found = compare([old], [after(check(case="v3"), planned=[check(case="v4")])])
    (change,) = only(found).changes
    assert (change.kind, change.cases) == (ChangeKind.VANISHED, ("v4",))
    assert only(found).defects == ("run r2 is incomplete: 1 planned checks are missing",)


def test_case_no_longer_planned_is_no_change() -> None:
    old = run_of(check(case="old_name"))
    found = compare([old], [after(check(case="new_name"))])
    assert only(found).changes == ()
    assert found.exit_code == CompareExit.NOTHING_WORSE


def test_requirement_with_one_case_still_failing_is_not_fixed() -> None:
    old = run_of(check(case="v3", verdict=V.FAILED), check(case="v4", verdict=V.FAILED))
    new = after(check(case="v3"), check(case="v4", verdict=V.FAILED))
    assert only(compare([old], [new])).changes == ()


def test_compare_uses_newest_run_of_each_target() -> None:
    old = [
        run_of(check(verdict=V.FAILED), run="r1", hour=1),
        run_of(check(), run="r2", hour=2),
        run_of(check(), run="k1", hour=2, target="kafka:4.4.0"),
    ]
    new = [
        run_of(check(verdict=V.FAILED), run="k2", hour=3, target="kafka:4.4.0"),
        run_of(check(), run="r3", hour=3),
    ]
    found = compare(old, new)
    assert {one.target: len(one.changes) for one in found.comparisons} == {
        "kafka:4.4.0": 1,
        "reference": 0,
    }


def test_target_with_run_on_one_side_only_is_not_asked() -> None:
    both = [run_of(check()), run_of(check(), run="k1", target="kafka:4.4.0")]
    found = compare(both, both[:1])
    gone = found.comparisons[0]
    assert (gone.target, gone.after) == ("kafka:4.4.0", None)
    assert [(c.kind, c.reason) for c in gone.changes] == [(ChangeKind.NOT_ASKED, NO_RUN)]
    assert found.exit_code == CompareExit.NOTHING_WORSE
    assert found.exit_code_if(same_scope=True) == CompareExit.WORSE
    came = compare(both[:1], both).comparisons[0]
    assert [change.kind for change in came.changes] == [ChangeKind.NEWLY_ASKED]


def test_compare_pairs_two_single_targets_with_different_names() -> None:
    old = run_of(check(), target="kafka:4.3.1")
    new = run_of(check(verdict=V.FAILED), run="r2", target="kafka:4.4.0")
    assert only(compare([old], [new])).target == "kafka:4.3.1 -> kafka:4.4.0"
    assert kinds(compare([old], [new])) == {"CONN-001": "regressed"}


# -- scope -------------------------------------------------------------------------------------


def lacking(capability: str) -> CheckRecord:
    return replace(check("PROD-001", V.NOT_APPLICABLE), capability_missing=capability)


def dated(word: str) -> CheckRecord:
    return check("PROD-001", V.NOT_SUPPORTED, reason=f"promised {word} 3.0; this is 2.8.2: x")


P1, P1_FAILED = check("PROD-001"), check("PROD-001", V.FAILED)
OTHER = check("PROD-002")


def at(version: int, verdict: Verdict = V.PASSED) -> CheckRecord:
    return check("PROD-001", verdict, case=f"test_x.py::test_it[v{version}]")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ([P1, OTHER], [OTHER], "not_asked"),  # --requirement, --suite, a retired requirement
        ([OTHER], [P1, OTHER], "newly_asked"),
        ([OTHER], [P1_FAILED, OTHER], "newly_asked"),
        ([P1_FAILED, OTHER], [OTHER], "not_asked"),
        ([P1], [lacking("nodes")], "not_asked"),
        ([P1], [lacking("own_broker")], "not_asked"),
        ([lacking("kill_node")], [P1], "newly_asked"),
        ([P1], [lacking("fetch_sessions")], "vanished"),  # by the broker's own answer
        ([P1], [check("PROD-001", V.NOT_SUPPORTED, reason="Fetch v3: advertised is not at all")],
         "vanished"),
        ([P1], [check("PROD-001", V.HARNESS_ERROR)], "vanished"),
        ([P1], [check("PROD-001", V.INCONCLUSIVE)], "vanished"),
        ([at(3)], [at(4, V.FAILED)], "newly_asked"),  # other versions were drawn
        ([at(3)], [at(3), at(4, V.FAILED)], "newly_asked"),
        ([at(3)], [at(3, V.FAILED), at(4)], "regressed"),
        ([at(3), at(4)], [at(3, V.INCONCLUSIVE), at(5, V.FAILED)], "vanished"),
        ([at(3, V.INCONCLUSIVE)], [at(3, V.FAILED)], "new"),
        ([at(3, V.FAILED), at(4)], [at(4)], "not_asked"),  # not fixed: v3 was not asked
        ([at(3, V.FAILED), at(4)], [at(3), at(5)], "fixed"),
        ([at(3), at(4, V.NOT_SUPPORTED)], [at(4, V.NOT_SUPPORTED)], "not_asked"),
        ([check("PROD-001", case="a.py::test_old[v3]")], [at(3, V.FAILED)], "regressed"),
        ([check("PROD-001", case="a.py::test_old[v3]")], [at(3, V.INCONCLUSIVE)], "vanished"),
    ],
)  # fmt: skip
def test_cases_of_one_run_only_are_no_change_of_the_broker(
    old: list[CheckRecord], new: list[CheckRecord], wanted: str
) -> None:
    found = compare([run_of(*old)], [after(*new)])
    assert kinds(found) == {"PROD-001": wanted}
    worse = wanted in ("regressed", "vanished")
    assert found.exit_code == (CompareExit.WORSE if worse else CompareExit.NOTHING_WORSE)


@pytest.mark.parametrize(("release", "wanted"), [("3.0.0", "not_asked"), ("2.8.2", "vanished")])
@pytest.mark.parametrize("word", ["since", "until"])
def test_dates_excuse_another_release_only(word: str, release: str, wanted: str) -> None:
    """On the same release the broker has changed."""
    old = run_of(P1, release=release)
    new = run_of(dated(word), run="r2", hour=11, release="2.8.2")
    assert kinds(compare([old], [new])) == {"PROD-001": wanted}


def test_run_that_ended_at_first_contact_has_asked_everything() -> None:
    failed = check("CONN-003", V.FAILED, case=FIRST_CONTACT)
    found = compare([run_of(P1, check("CONN-003"))], [after(failed)])
    assert kinds(found) == {"CONN-003": "regressed", "PROD-001": "vanished"}


def test_run_that_died_before_its_plan_has_asked_everything() -> None:
    found = compare([run_of(P1)], [after()])
    assert kinds(found) == {"PROD-001": "vanished"}


# -- flaky ---------------------------------------------------------------------------------------


def row(letters: str) -> list[Sighting]:
    """``P F|P``: passed and failed attempts, a new run after each bar."""
    found = []
    for number, attempts in enumerate(letters.split("|")):
        for attempt, letter in enumerate(attempts, start=1):
            verdict = V.PASSED if letter == "P" else V.FAILED
            found.append(Sighting(run=f"r{number}", attempt=attempt, verdict=verdict))
    return found


@pytest.mark.parametrize(
    ("letters", "flaky"),
    [
        ("P", False),
        ("P|P|P", False),
        ("P|F", False),
        ("F|P", False),
        ("P|P|F|F", False),
        ("P|F|P", True),
        ("F|P|F", True),
        ("F|P|P|F", True),
        ("FP", True),
        ("F|FP", True),
        ("FF|P", False),
        ("P|FF|P", True),
    ],
)
def test_verdicts_that_change_in_both_directions_are_flaky(letters: str, flaky: bool) -> None:
    assert goes_both_ways(row(letters)) is flaky


def test_flakes_are_grouped_by_release() -> None:
    runs = [
        run_of(check(), run="a", hour=1),
        run_of(check(verdict=V.FAILED), run="b", hour=2, release="4.3.1"),
        run_of(check(), run="c", hour=3),
    ]
    assert flakes_in(runs) == ()
    (flake,) = flakes_in([*runs, run_of(check(verdict=V.WARNING), run="d", hour=2)])
    assert [one.run for one in flake.sightings] == ["a", "d", "c"]
    assert flake.release == "4.4.0"


def test_flakes_are_grouped_by_case_and_ignore_inconclusive() -> None:
    runs = [
        run_of(check(case="a"), check(case="b", verdict=V.FAILED), run="r1", hour=1),
        run_of(check(case="a", verdict=V.INCONCLUSIVE), run="r2", hour=2),
        run_of(check(case="a"), check(case="b", verdict=V.FAILED), run="r3", hour=3),
    ]
    assert flakes_in(runs) == ()


def test_run_given_on_both_sides_counts_once() -> None:
    one, two = run_of(check()), after(check(verdict=V.FAILED))
    assert compare([one, two], [one, two]).flaky == ()


def test_flaky_regression_is_labelled_and_exits_worse() -> None:
    old = [run_of(check(verdict=V.FAILED), run="r0", hour=8), run_of(check())]
    found = compare(old, [after(check(verdict=V.FAILED))])
    (change,) = only(found).changes
    assert (change.kind, change.flaky) == (ChangeKind.REGRESSED, True)
    assert found.exit_code == CompareExit.WORSE


def test_pass_at_second_attempt_is_flaky_and_regressed() -> None:
    new = after(check(verdict=V.FAILED), check(attempt=2))
    found = compare([run_of(check())], [new])
    assert [one.attempt for one in found.flaky[0].sightings] == [1, 1, 2]
    assert kinds(found) == {"CONN-001": "regressed"}
