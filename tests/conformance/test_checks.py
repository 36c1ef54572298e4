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
def test_check_maps_exception_to_verdict_and_reraises_it(
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


def test_ids_after_failed_check_are_inconclusive(case: Case) -> None:
    case.recorder.begin_case("c", [A, B, C])
    records = case.finish((A, None), (B, AssertionError("no")))
    assert verdicts(records) == [(A, V.PASSED), (B, V.FAILED), (C, V.INCONCLUSIVE)]
    assert B in records[2].reason
    assert [record.check for record in records] == [1, 2, 3]


def test_swallowed_failure_makes_other_ids_inconclusive(case: Case) -> None:
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


def test_harness_error_after_failed_check_stays_harness_error(case: Case) -> None:
    case.recorder.begin_case("c", [A, B])
    with pytest.raises(AssertionError), case.requirement(A):
        raise AssertionError("no")
    assert verdicts(case.finish((B, TypeError("oops"))))[1] == (B, V.HARNESS_ERROR)


@pytest.mark.parametrize("soft", [SHOULD, MAY])
def test_unmet_should_or_may_makes_remaining_ids_inconclusive(case: Case, soft: str) -> None:
    case.recorder.begin_case("c", [soft, B])
    records = case.finish((soft, AssertionError("no")))
    assert records[1].verdict is V.INCONCLUSIVE
    assert soft in records[1].reason


def test_swallowed_warning_leaves_later_check_passed(case: Case) -> None:
    case.recorder.begin_case("c", [SHOULD, B])
    with pytest.raises(AssertionError), case.requirement(SHOULD):
        raise AssertionError("no")
    assert verdicts(case.finish((B, None))) == [(SHOULD, V.WARNING), (B, V.PASSED)]


def test_outer_check_is_inconclusive_when_inner_check_fails(case: Case) -> None:
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
def test_id_without_check_gets_record_with_verdict_and_reason(
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
def test_exception_inside_check_gives_later_ids_same_verdict(
    case: Case, error: BaseException, verdict: Verdict
) -> None:
    case.recorder.begin_case("c", [A, B])
    assert verdicts(case.finish((A, error))) == [(A, verdict), (B, verdict)]


@pytest.mark.parametrize(
    ("error", "verdict"), [(TypeError("oops"), V.HARNESS_ERROR), (BrokerFault("x"), V.INCONCLUSIVE)]
)
def test_exception_after_last_check_adds_record(
    case: Case, error: BaseException, verdict: Verdict
) -> None:
    case.recorder.begin_case("c", [A])
    with case.requirement(A):
        pass
    assert verdicts(case.recorder.finish_case(error)) == [(A, V.PASSED), (A, verdict)]


def test_check_of_undeclared_id_is_harness_error(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with pytest.raises(CheckMisuse, match=B) as caught, case.requirement(B):
        raise RuntimeError("the body may not run")
    records = case.recorder.finish_case(caught.value)
    assert verdicts(records) == [(B, V.HARNESS_ERROR), (A, V.HARNESS_ERROR)]


def test_undeclared_id_after_all_checks_adds_one_record(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    records = case.finish((A, None), (B, None))
    assert verdicts(records) == [(A, V.PASSED), (B, V.HARNESS_ERROR)]


def test_broken_meanwhile_records_failure_of_undeclared_id(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with case.requirement(A):
        pass
    case.recorder.broken_meanwhile(B, "two leaders")
    records = case.recorder.finish_case(None)
    assert verdicts(records) == [(A, V.PASSED), (B, V.FAILED)]
    assert records[1].reason == "two leaders"


def test_broken_meanwhile_after_failed_check_adds_no_record(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with pytest.raises(AssertionError) as caught, case.requirement(A):
        raise AssertionError
    case.recorder.broken_meanwhile(B, "two leaders")
    assert verdicts(case.recorder.finish_case(caught.value)) == [(A, V.FAILED)]


def test_unknown_id_raises_unknown_requirement_error(case: Case) -> None:
    with pytest.raises(UnknownRequirementError):
        case.recorder.begin_case("c", ["CONN-999"])
    case.recorder.begin_case("c", [A])
    with pytest.raises(UnknownRequirementError) as caught, case.requirement("CONN-999"):
        pass
    assert verdicts(case.recorder.finish_case(caught.value)) == [(A, V.HARNESS_ERROR)]


def test_overlapping_cases_and_checks_without_case_raise_check_misuse(case: Case) -> None:
    with pytest.raises(CheckMisuse, match="outside of any case"), case.requirement(A):
        pass
    with pytest.raises(CheckMisuse, match="nothing to finish"):
        case.recorder.finish_case(None)
    case.recorder.begin_case("one", [A])
    with pytest.raises(CheckMisuse, match="two begins while one is still open"):
        case.recorder.begin_case("two", [A])


@pytest.mark.parametrize("declared", [[], [A, A]])
def test_empty_or_duplicate_declaration_raises_check_misuse(
    case: Case, declared: list[str]
) -> None:
    with pytest.raises(CheckMisuse, match="declares"):
        case.recorder.begin_case("c", declared)


def test_second_attempt_is_independent_of_first_attempt(case: Case) -> None:
    case.recorder.begin_case("one", [A, B], attempt=1)
    first = case.finish((A, AssertionError("no")))
    case.recorder.begin_case("one", [A, B], attempt=2)
    second = case.finish((A, None), (B, None))
    assert [record.attempt for record in first + second] == [1, 1, 2, 2]
    assert verdicts(second) == [(A, V.PASSED), (B, V.PASSED)]


def test_check_overrides_api_version_of_case(case: Case) -> None:
    case.recorder.begin_case("c", [A], api_key=1, api_version=4)
    with case.requirement(A, api_version=0):
        pass
    (record,) = case.recorder.finish_case(None)
    assert (record.api_key, record.api_version) == (1, 0)


def test_assertion_without_message_records_its_file_and_line(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    with pytest.raises(AssertionError) as caught, case.requirement(A):
        raise AssertionError
    (record,) = case.recorder.finish_case(caught.value)
    assert "no message, raised in test_checks.py line" in record.reason


def test_long_reason_is_cut_to_limit(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    (record,) = case.finish((A, AssertionError("x" * 10_000)))
    assert len(record.reason) < REASON_LIMIT_CHARS + 50
    assert record.reason.endswith("(6000 more characters)")


def test_lone_surrogate_in_reason_is_escaped(case: Case) -> None:
    case.recorder.begin_case("c", [A])
    (record,) = case.finish((A, AssertionError("got \udc80")))
    assert record.reason == "got \\udc80"


def test_evidence_is_attached_only_to_records_that_did_not_pass(case: Case) -> None:
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
def test_module_functions_share_one_recorder() -> None:
    checks.begin_case("c", [A, B], api_key=3, api_version=9)
    with checks.requirement(A):
        pass
    records = checks.finish_case(None)
    assert verdicts(records) == [(A, V.PASSED), (B, V.HARNESS_ERROR)]
    assert records[0].api_version == 9
