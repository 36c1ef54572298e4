"""The records of a case in which the broker refused requests of the run's user."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from harness.conformance.missing_rights import (
    MissingRight,
    RightRefused,
    by_rights,
    capability_of,
    rights_in,
)
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict
from tests.conformance.made import check

V = Verdict
WRITE = MissingRight("WRITE", "topic", "kc-*")
READ = MissingRight("READ", "group", "a group; with words on it")
DECLARED = ("CONN-001", "CONN-002")
BEGAN_S = 1_780_000_000


def record(
    verdict: Verdict,
    begin_s: float,
    end_s: float,
    *,
    requirement: str = DECLARED[0],
    subtest: str | None = None,
) -> CheckRecord:
    """One that began and ended so many seconds after the case."""
    at = datetime.fromtimestamp(BEGAN_S + end_s, UTC).isoformat()
    made = check(requirement, verdict)
    return replace(made, at=at, duration_ms=(end_s - begin_s) * 1000, subtest=subtest)


def refused(at_s: float, right: MissingRight = WRITE, only_api: int | None = None) -> RightRefused:
    return RightRefused(right, BEGAN_S + at_s, only_api)


def verdicts(records: list[CheckRecord], *refusals: RightRefused) -> list[Verdict]:
    return [one.verdict for one in by_rights(records, refusals, DECLARED)]


def test_a_capability_has_its_rights_in_order_and_each_once() -> None:
    capability = capability_of([WRITE, READ, WRITE])
    assert capability == (
        "a right of the user: READ on group a group; with words on it; WRITE on topic kc-*"
    )
    assert rights_in(capability_of([WRITE])) == (WRITE,)
    assert rights_in("own_broker") == ()


def test_a_refused_check_is_not_applicable_with_its_reason() -> None:
    (turned,) = by_rights([record(V.FAILED, 0, 2)], [refused(1)], DECLARED)
    assert turned.verdict is V.NOT_APPLICABLE
    assert turned.capability_missing == capability_of([WRITE])
    assert turned.reason.endswith("so: why failed")


def test_each_verdict_without_a_pass_is_turned_and_a_pass_stays() -> None:
    for verdict in (V.FAILED, V.WARNING, V.INCONCLUSIVE, V.HARNESS_ERROR):
        assert verdicts([record(verdict, 0, 2)], refused(1)) == [V.NOT_APPLICABLE]
    for verdict in (V.PASSED, V.NOT_SUPPORTED, V.NOT_APPLICABLE):
        assert verdicts([record(verdict, 0, 2)], refused(1)) == [verdict]


def test_a_case_without_refusals_stays_as_it_is() -> None:
    assert verdicts([record(V.FAILED, 0, 2)]) == [V.FAILED]


def test_a_refusal_after_a_failed_check_does_not_excuse_it() -> None:
    assert verdicts([record(V.FAILED, 0, 2)], refused(3)) == [V.FAILED]


def test_a_refused_preparation_counts_for_every_check() -> None:
    later = [record(V.FAILED, 2, 3), record(V.FAILED, 3, 4, requirement=DECLARED[1])]
    assert verdicts(later, refused(1)) == [V.NOT_APPLICABLE] * 2


def test_a_refusal_within_a_subtest_counts_for_that_one_alone() -> None:
    records = [
        record(V.FAILED, 0, 2, subtest="refused"),
        record(V.FAILED, 2, 4, subtest="served"),
    ]
    assert verdicts(records, refused(1)) == [V.NOT_APPLICABLE, V.FAILED]


def test_what_a_failed_subtest_left_undecided_stays_so() -> None:
    records = [
        record(V.FAILED, 0, 2, subtest="refused"),
        record(V.FAILED, 2, 4, subtest="served"),
        record(V.INCONCLUSIVE, 5, 5, requirement=DECLARED[1]),
    ]
    assert verdicts(records, refused(1)) == [V.NOT_APPLICABLE, V.FAILED, V.INCONCLUSIVE]


def test_what_refused_subtests_left_undecided_is_not_applicable() -> None:
    records = [
        record(V.FAILED, 0, 2, subtest="refused"),
        record(V.PASSED, 2, 4, subtest="served"),
        record(V.INCONCLUSIVE, 5, 5, requirement=DECLARED[1]),
    ]
    assert verdicts(records, refused(1)) == [V.NOT_APPLICABLE, V.PASSED, V.NOT_APPLICABLE]


def test_a_requirement_that_the_case_does_not_declare_stays_failed() -> None:
    records = [record(V.FAILED, 2, 3), record(V.FAILED, 3, 3, requirement="CONN-003")]
    assert verdicts(records, refused(1)) == [V.NOT_APPLICABLE, V.FAILED]


def test_a_part_that_is_refused_counts_for_checks_of_its_api_alone() -> None:
    failed = record(V.FAILED, 2, 3)
    assert failed.api_key == 0
    assert verdicts([failed], refused(1, only_api=0)) == [V.NOT_APPLICABLE]
    assert verdicts([failed], refused(1, only_api=19)) == [V.FAILED]
    undecided = record(V.INCONCLUSIVE, 2, 3)
    assert verdicts([undecided], refused(1, only_api=19)) == [V.INCONCLUSIVE]
