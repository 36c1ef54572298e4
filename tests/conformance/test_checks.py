"""Every way in which a requirement comes to its verdict within one case."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.conformance import checks
from harness.conformance.catalogue import UnknownRequirementError, load_catalogue
from harness.conformance.checks import (
    CheckMisuse,
    Inconclusive,
    NotApplicable,
    NotSupported,
    Recorder,
    with_evidence,
)
from harness.conformance.outcome import (
    REASON_LIMIT_CHARS,
    register_broker_fault,
    register_missing_capability,
)
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict

V = Verdict
A, B, C = "CONN-001", "CONN-002", "CONN-003"
SHOULD, MAY = "APIV-013", "FETCH-013"


class BrokerFault(Exception):
    pass


class NoSuchControl(Exception):
    def __init__(self, capability: str) -> None:
        super().__init__("cannot")
        self.capability = capability


register_broker_fault(BrokerFault)
register_missing_capability(NoSuchControl)


class Case:
    """One case under test: run a body, get its records."""

    def __init__(self) -> None:
        self.recorder = Recorder(load_catalogue())
        self.requirement = self.recorder.requirement

    def finish(self, *steps: tuple[str, BaseException | None]) -> list[CheckRecord]:
        """Make one check a step, each raising its exception, until one does."""
        try:
            for requirement, error in steps:
                with self.requirement(requirement):
                    if error is not None:
                        raise error
        except BaseException as error:
            return self.recorder.finish_case(error)
        return self.recorder.finish_case(None)


@pytest.fixture
def case() -> Case:
    return Case()


def verdicts(records: list[CheckRecord]) -> list[tuple[str, Verdict]]:
    return [(record.requirement, record.verdict) for record in records]


@pytest.mark.parametrize(
    ("requirement", "error", "verdict", "reason"),
    [
        (A, None, V.PASSED, ""),
        (A, AssertionError("got 3"), V.FAILED, "got 3"),
        (A, BrokerFault("cut"), V.FAILED, "BrokerFault: cut"),
        (SHOULD, AssertionError("got 3"), V.WARNING, "got 3"),
        (SHOULD, BrokerFault("cut"), V.WARNING, "BrokerFault: cut"),
        (MAY, AssertionError("other way"), V.PASSED, "other way"),
        (A, Inconclusive("too slow"), V.INCONCLUSIVE, "too slow"),
        (A, NotSupported("Fetch 13 is not advertised"), V.NOT_SUPPORTED, "Fetch 13"),
        (A, NotApplicable("kill"), V.NOT_APPLICABLE, 'lacks the capability "kill"'),
        (A, NoSuchControl("kill"), V.NOT_APPLICABLE, "NoSuchControl: cannot"),
        (A, NoSuchControl(""), V.HARNESS_ERROR, "names no capability"),
        (A, TypeError("oops"), V.HARNESS_ERROR, "TypeError: oops"),
        (A, KeyboardInterrupt(), V.HARNESS_ERROR, "KeyboardInterrupt"),
    ],
)
def test_a_check_comes_to_its_verdict_and_lets_the_exception_on(
    case: Case, requirement: str, error: BaseException | None, verdict: Verdict, reason: str
) -> None:
    case.recorder.begin_case("test_x.py::test_y", [requirement], api_key=1, api_version=13)
    raised: BaseException | None = None
    try:
        with case.requirement(requirement):
            if error is not None:
                raise error
    except BaseException as caught:
        raised = caught
    assert raised is error
    (record,) = case.recorder.finish_case(raised)
    assert record.verdict is verdict
    assert reason in record.reason
    assert (record.reason == "") == (reason == "")
    assert (record.api_key, record.api_version) == (1, 13)
    assert record.duration_ms >= 0
    missing = "kill" if verdict is V.NOT_APPLICABLE else None
    assert record.capability_missing == missing


def test_ids_after_a_failed_check_are_inconclusive(case: Case) -> None:
    case.recorder.begin_case("c", [A, B, C])
    records = case.finish((A, None), (B, AssertionError("no")))
    assert verdicts(records) == [(A, V.PASSED), (B, V.FAILED), (C, V.INCONCLUSIVE)]
    assert B in records[2].reason
    assert [record.check for record in records] == [1, 2, 3]


def test_a_swallowed_failure_still_spoils_what_comes_after(case: Case) -> None:
    case.recorder.begin_case("c", [A, B, C])
    with pytest.raises(AssertionError), case.requirement(A):
        raise AssertionError("no")
    with case.requirement(B):
        pass
    records = case.finish((A, None))
    assert verdicts(records) == [
        (A, V.FAILED),
        (B, V.INCONCLUSIVE),
        (A, V.PASSED),
        (C, V.INCONCLUSIVE),
    ]


def test_a_harness_error_after_a_failed_check_stays_one(case: Case) -> None:
    case.recorder.begin_case("c", [A, B])
    with pytest.raises(AssertionError), case.requirement(A):
        raise AssertionError("no")
    assert verdicts(case.finish((B, TypeError("oops"))))[1] == (B, V.HARNESS_ERROR)


@pytest.mark.parametrize("soft", [SHOULD, MAY])
def test_a_softer_level_that_does_not_hold_leaves_the_rest_inconclusive(
    case: Case, soft: str
) -> None:
    case.recorder.begin_case("c", [soft, B])
    records = case.finish((soft, AssertionError("no")))
    assert records[1].verdict is V.INCONCLUSIVE
    assert soft in records[1].reason


def test_a_swallowed_warning_spoils_nothing(case: Case) -> None:
    case.recorder.begin_case("c", [SHOULD, B])
    with pytest.raises(AssertionError), case.requirement(SHOULD):
        raise AssertionError("no")
    assert verdicts(case.finish((B, None))) == [(SHOULD, V.WARNING), (B, V.PASSED)]


def test_an_outer_check_does_not_fail_with_the_inner_one(case: Case) -> None:
    case.recorder.begin_case("c", [A, B])
    with pytest.raises(AssertionError) as caught, case.requirement(A), case.requirement(B):
        raise AssertionError("no")
    records = case.recorder.finish_case(caught.value)
    assert verdicts(records) == [(B, V.FAILED), (A, V.INCONCLUSIVE)]


@pytest.mark.parametrize(
    ("error", "verdict", "reason"),
    [
        (None, V.HARNESS_ERROR, "the test recorded no check for it"),
        (BrokerFault("cut"), V.INCONCLUSIVE, "outside of any check: BrokerFault: cut"),
        (AssertionError("bare"), V.HARNESS_ERROR, "outside of any check: bare"),
        (TypeError("oops"), V.HARNESS_ERROR, "outside of any check: TypeError: oops"),
        (Inconclusive("slow"), V.INCONCLUSIVE, "slow"),
        (NotSupported("no v3"), V.NOT_SUPPORTED, "no v3"),
        (NotApplicable("restart"), V.NOT_APPLICABLE, "restart"),
    ],
)
def test_an_id_without_a_check_gets_a_record_that_says_why(
    case: Case, error: BaseException | None, verdict: Verdict, reason: str
) -> None:
    case.recorder.begin_case("c", [A, B])
    with case.requirement(A):
        pass
    records = case.recorder.finish_case(error)
    assert verdicts(records) == [(A, V.PASSED), (B, verdict)]
    assert reason in records[1].reason


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (TypeError("oops"), V.HARNESS_ERROR),
        (Inconclusive("slow"), V.INCONCLUSIVE),
        (NotSupported("no v3"), V.NOT_SUPPORTED),
        (NotApplicable("kill"), V.NOT_APPLICABLE),
    ],
)
def test_an_exception_inside_a_check_also_speaks_for_the_ids_after_it(
    case: Case, error: BaseException, verdict: Verdict
) -> None:
    case.recorder.begin_case("c", [A, B])
    assert verdicts(case.finish((A, error))) == [(A, verdict), (B, verdict)]


@pytest.mark.parametrize(
    ("error", "verdict"), [(TypeError("oops"), V.HARNESS_ERROR), (BrokerFault("x"), V.INCONCLUSIVE)]
)
def test_an_exception_after_the_last_check_is_not_lost(
    case: Case, error: BaseException, verdict: Verdict
) -> None:
    case.recorder.begin_case("c", [A])
    with case.requirement(A):
        pass
    assert verdicts(case.recorder.finish_case(error)) == [(A, V.PASSED), (A, verdict)]


def test_a_check_for_an_undeclared_id_is_a_harness_error(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with pytest.raises(CheckMisuse, match=B) as caught, case.requirement(B):
        raise RuntimeError("the body may not run")
    records = case.recorder.finish_case(caught.value)
    assert verdicts(records) == [(B, V.HARNESS_ERROR), (A, V.HARNESS_ERROR)]


def test_an_undeclared_id_after_all_checks_is_said_once(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    records = case.finish((A, None), (B, None))
    assert verdicts(records) == [(A, V.PASSED), (B, V.HARNESS_ERROR)]


def test_a_promise_that_broke_meanwhile_needs_no_declaration(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with case.requirement(A):
        pass
    case.recorder.broken_meanwhile(B, "two leaders")
    records = case.recorder.finish_case(None)
    assert verdicts(records) == [(A, V.PASSED), (B, V.FAILED)]
    assert records[1].reason == "two leaders"


def test_nothing_is_said_to_break_after_a_failed_check(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with pytest.raises(AssertionError) as caught, case.requirement(A):
        raise AssertionError
    case.recorder.broken_meanwhile(B, "two leaders")
    assert verdicts(case.recorder.finish_case(caught.value)) == [(A, V.FAILED)]


def test_an_unknown_id_is_refused(case: Case) -> None:
    with pytest.raises(UnknownRequirementError):
        case.recorder.begin_case("c", ["CONN-999"])
    case.recorder.begin_case("c", [A])
    with pytest.raises(UnknownRequirementError) as caught, case.requirement("CONN-999"):
        pass
    assert verdicts(case.recorder.finish_case(caught.value)) == [(A, V.HARNESS_ERROR)]


def test_cases_do_not_overlap_and_checks_need_one(case: Case) -> None:
    with pytest.raises(CheckMisuse, match="outside of any case"), case.requirement(A):
        pass
    with pytest.raises(CheckMisuse, match="nothing to finish"):
        case.recorder.finish_case(None)
    case.recorder.begin_case("one", [A])
    with pytest.raises(CheckMisuse, match="two begins while one is still open"):
        case.recorder.begin_case("two", [A])


@pytest.mark.parametrize("declared", [[], [A, A]])
def test_a_case_declares_each_id_once(case: Case, declared: list[str]) -> None:
    with pytest.raises(CheckMisuse, match="declares"):
        case.recorder.begin_case("c", declared)


def test_cases_leave_nothing_behind(case: Case) -> None:
    case.recorder.begin_case("one", [A, B], attempt=1)
    first = case.finish((A, AssertionError("no")))
    case.recorder.begin_case("one", [A, B], attempt=2)
    second = case.finish((A, None), (B, None))
    assert [record.attempt for record in first + second] == [1, 1, 2, 2]
    assert verdicts(second) == [(A, V.PASSED), (B, V.PASSED)]


def test_a_check_can_say_its_own_version(case: Case) -> None:
    case.recorder.begin_case("c", [A], api_key=1, api_version=4)
    with case.requirement(A, api_version=0):
        pass
    (record,) = case.recorder.finish_case(None)
    assert (record.api_key, record.api_version) == (1, 0)


def test_a_bare_assertion_says_where_it_was(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with pytest.raises(AssertionError) as caught, case.requirement(A):
        raise AssertionError
    (record,) = case.recorder.finish_case(caught.value)
    assert "no message, raised in test_checks.py line" in record.reason


def test_a_huge_reason_is_cut(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    (record,) = case.finish((A, AssertionError("x" * 10_000)))
    assert len(record.reason) < REASON_LIMIT_CHARS + 50
    assert record.reason.endswith("(6000 more characters)")


def test_a_reason_can_always_be_written(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    (record,) = case.finish((A, AssertionError("got \udc80")))
    assert record.reason == "got \\udc80"


def test_evidence_goes_to_what_is_not_plainly_passed(case: Case) -> None:
    case.recorder.begin_case("c", [A, B, C])
    records = with_evidence(
        case.finish((A, None), (B, AssertionError("no"))), Path("evidence/c.txt")
    )
    assert [record.evidence for record in records] == [None, "evidence/c.txt", "evidence/c.txt"]


@pytest.fixture
def no_open_case() -> Iterator[None]:
    yield
    with pytest.raises(CheckMisuse):
        checks.finish_case(None)


@pytest.mark.usefixtures("no_open_case")
def test_the_module_speaks_to_one_recorder() -> None:
    checks.begin_case("c", [A, B], api_key=3, api_version=9)
    with checks.requirement(A):
        pass
    records = checks.finish_case(None)
    assert verdicts(records) == [(A, V.PASSED), (B, V.HARNESS_ERROR)]
    assert records[0].api_version == 9
