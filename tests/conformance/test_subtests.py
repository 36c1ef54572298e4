"""Subtests of a check: each leaves its record, and none hides the next."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.conformance.catalogue import load_catalogue
from harness.conformance.checks import (
    Check,
    CheckMisuse,
    Inconclusive,
    NotApplicable,
    NotSupported,
    Recorder,
)
from harness.conformance.outcome import register_broker_fault
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict

V = Verdict
A, B = "CONN-001", "CONN-002"
SHOULD, MAY = "APIV-013", "FETCH-013"


class BrokerFault(Exception):
    pass


register_broker_fault(BrokerFault)
Steps = dict[str, BaseException | None]


def judged(
    steps: Steps, requirement: str = A, then: BaseException | None = None
) -> tuple[list[CheckRecord], BaseException | None]:
    """The records of a case with one check of these subtests, and what the test ended with."""

    def body(check: Check) -> None:
        for name, error in steps.items():
            with check.subtest(name):
                if error is not None:
                    raise error
        if then is not None:
            raise then

    return made(body, requirement)


def made(
    body: Callable[[Check], None], requirement: str = A
) -> tuple[list[CheckRecord], BaseException | None]:
    recorder = Recorder(load_catalogue())
    recorder.begin_case("c", [requirement], api_version=3)
    raised: BaseException | None = None
    try:
        with recorder.requirement(requirement) as check:
            body(check)
    except BaseException as error:
        raised = error
    return recorder.finish_case(raised), raised


def told(records: list[CheckRecord]) -> list[tuple[str | None, Verdict, str]]:
    return [(record.subtest, record.verdict, record.reason) for record in records]


def test_each_subtest_that_does_not_hold_leaves_its_record() -> None:
    steps: Steps = {
        "crc": AssertionError("taken"),
        "length": None,
        "magic": BrokerFault("closed"),
        "count": AssertionError("also taken"),
    }
    records, raised = judged(steps)
    assert told(records) == [
        ("crc", V.FAILED, "taken"),
        ("length", V.PASSED, ""),
        ("magic", V.FAILED, "BrokerFault: closed"),
        ("count", V.FAILED, "also taken"),
    ]
    assert isinstance(raised, AssertionError)
    assert str(raised) == "crc: taken; magic: BrokerFault: closed; count: also taken"
    assert [record.check for record in records] == [1, 2, 3, 4]
    assert {record.api_version for record in records} == {3}


def test_subtests_that_pass_leave_no_record_of_whole_check() -> None:
    records, raised = judged({"one": None, "two": None})
    assert told(records) == [("one", V.PASSED, ""), ("two", V.PASSED, "")]
    assert raised is None


def test_check_without_subtests_leaves_one_record_without_name() -> None:
    assert told(judged({})[0]) == [(None, V.PASSED, "")]


@pytest.mark.parametrize(("level", "verdict"), [(SHOULD, V.WARNING), (MAY, V.PASSED)])
def test_subtest_of_should_or_may_does_not_fail(level: str, verdict: Verdict) -> None:
    records, raised = judged({"one": AssertionError("no"), "two": None}, level)
    assert told(records) == [("one", verdict, "no"), ("two", V.PASSED, "")]
    assert str(raised) == "one: no"


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (Inconclusive("too slow"), V.INCONCLUSIVE),
        (NotSupported("no v3"), V.NOT_SUPPORTED),
        (NotApplicable("kill"), V.NOT_APPLICABLE),
    ],
)
def test_undecided_subtest_lets_next_one_begin(error: Exception, verdict: Verdict) -> None:
    records, _ = judged({"one": error, "two": AssertionError("no")})
    assert [record.verdict for record in records] == [verdict, V.FAILED]


def test_inconclusive_subtest_ends_block_with_its_exception() -> None:
    """As the runner repeats a test that the machine was too slow for."""
    error = Inconclusive("too slow")
    assert judged({"one": NotSupported("no v3"), "two": error, "three": None})[1] is error


def test_unsupported_subtests_end_block_only_if_none_passed() -> None:
    error = NotSupported("no v3")
    assert judged({"one": error, "two": None})[1] is None
    assert judged({"one": error, "two": NotSupported("no v4")})[1] is error


def test_mistake_of_test_inside_subtest_ends_check_as_harness_error() -> None:
    error = TypeError("oops")
    records, raised = judged({"one": AssertionError("no"), "two": error, "three": None})
    assert told(records) == [("one", V.FAILED, "no"), ("two", V.HARNESS_ERROR, "TypeError: oops")]
    assert raised is error


def test_exception_after_subtests_leaves_record_of_whole_check() -> None:
    records, _ = judged({"one": AssertionError("no"), "two": None}, then=AssertionError("end"))
    assert told(records) == [
        ("one", V.FAILED, "no"),
        ("two", V.PASSED, ""),
        (None, V.FAILED, "end"),
    ]


def test_checks_after_failed_subtest_are_inconclusive() -> None:
    recorder = Recorder(load_catalogue())
    recorder.begin_case("c", [A, B])
    with pytest.raises(AssertionError), recorder.requirement(A) as check, check.subtest("one"):
        raise AssertionError("no")
    with recorder.requirement(B) as check, check.subtest("one"):
        pass
    records = recorder.finish_case(None)
    assert [record.verdict for record in records] == [V.FAILED, V.INCONCLUSIVE]


@pytest.mark.parametrize("name", ["", "one"])
def test_subtest_without_name_of_its_own_is_misuse(name: str) -> None:
    def body(check: Check) -> None:
        with check.subtest("one"):
            pass
        with check.subtest(name):
            pass

    records, raised = made(body)
    assert isinstance(raised, CheckMisuse)
    assert records[-1].verdict is V.HARNESS_ERROR


def test_subtest_inside_of_subtest_is_misuse() -> None:
    def body(check: Check) -> None:
        with check.subtest("outer"), check.subtest("inner"):
            pass

    assert isinstance(made(body)[1], CheckMisuse)
