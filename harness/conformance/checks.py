"""Checks: blocks around each expectation of a test, with one requirement id each.

The pytest plugin opens a case before a test and closes it after; in between the test runs blocks of
``with requirement("PROD-011"): ...``, and each block leaves one record, or one for each of its
subtests. A requirement has a verdict only where a check was recorded for that very id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TypeAlias

from harness.conformance.catalogue import Catalogue, load_catalogue
from harness.conformance.outcome import (
    CheckOutcome,
    Inconclusive,
    NotApplicable,
    NotSupported,
    classify_in_check,
    classify_outside,
    register_broker_fault,
    register_missing_capability,
)
from harness.conformance.record import CheckRecord
from harness.conformance.subtests import Check, CheckMisuse
from harness.conformance.verdict import Verdict

__all__ = [
    "Check",
    "CheckMisuse",
    "Inconclusive",
    "NotApplicable",
    "NotSupported",
    "Recorder",
    "begin_case",
    "broken_meanwhile",
    "finish_case",
    "register_broker_fault",
    "register_missing_capability",
    "requirement",
    "with_evidence",
]


_ApiAsked: TypeAlias = tuple[int | None, int | None]


class Recorder:
    """Records the checks of one case at a time.

    Rules:
        - A body that ends is passed. An AssertionError or a registered broker fault is failed
          for a MUST, warning for a SHOULD, and passed with the reason kept for a MAY. All
          exceptions go on to the test.
        - A body with subtests leaves their records, and one of its own only for an exception
          outside of them. A subtest that does not hold lets the next one begin; the body's end
          raises for all of them.
        - After a failed check of the case, checks of other ids are inconclusive: whatever the
          broker does now, it does in a state that was not expected.
        - At the end every declared id without a record gets one that says why there is none.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        elapsed_s: Callable[[], float] = time.perf_counter,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._catalogue = catalogue
        self._elapsed_s = elapsed_s
        self._now = now
        self._case: str | None = None
        self._declared: tuple[str, ...] = ()
        self._records: list[CheckRecord] = []
        self._attempt = 1
        self._api: _ApiAsked = (None, None)
        self._failed_id: str | None = None
        self._broken: tuple[BaseException | None, str] = (None, "")
        self._accounted: BaseException | None = None

    def begin_case(
        self,
        case: str,
        requirements: Sequence[str],
        *,
        api_key: int | None = None,
        api_version: int | None = None,
        attempt: int = 1,
    ) -> None:
        """Open a case.

        Args:
            case: pytest node id without the folder.
            requirements: the ids that the test declares to judge.
            api_key, api_version: what its checks are about, unless a check says otherwise.
            attempt: 1, and one more for each retry.

        Raises:
            CheckMisuse: another case is still open, or no id or one id twice is declared.
            UnknownRequirementError: an id is not in the catalogue.
        """
        if self._case is not None:
            raise CheckMisuse(f"case {case} begins while {self._case} is still open")
        if not requirements or len(set(requirements)) != len(requirements):
            raise CheckMisuse(f"case {case} declares no requirement, or one twice")
        for requirement_id in requirements:
            self._catalogue.requirement(requirement_id)
        self._case, self._declared, self._attempt = case, tuple(requirements), attempt
        self._records, self._api = [], (api_key, api_version)
        self._failed_id, self._broken, self._accounted = None, (None, ""), None

    @contextmanager
    def requirement(
        self, requirement_id: str, *, api_key: int | None = None, api_version: int | None = None
    ) -> Iterator[Check]:
        """One check for one requirement; the body holds what must be true.

        Args:
            requirement_id: one of the ids that the test declares.
            api_key, api_version: what this check is about, default as the case says.

        Raises:
            CheckMisuse: no case is open, or the test does not declare this id (which is also
                recorded as harness_error).
            UnknownRequirementError: the id is not in the catalogue.
        """
        level = self._catalogue.requirement(requirement_id).level
        started_s = self._elapsed_s()
        api = (
            self._api[0] if api_key is None else api_key,
            self._api[1] if api_version is None else api_version,
        )
        self._require_declared(requirement_id)

        def record(name: str, outcome: CheckOutcome, began_s: float) -> None:
            self._add(requirement_id, outcome, began_s, api, name)

        check = Check(level, record, self._elapsed_s)
        try:
            yield check
            check.finish()
        except BaseException as error:
            outcome = CheckOutcome(Verdict.PASSED)
            if error is not check.raised:
                outcome = self._outcome_of(error, level)
                self._add(requirement_id, outcome, started_s, api)
            self._note(requirement_id, error, [outcome, *check.outcomes.values()])
            raise
        if not check.outcomes:
            self._add(requirement_id, CheckOutcome(Verdict.PASSED), started_s, api)

    def broken_meanwhile(self, requirement_id: str, reason: str) -> None:
        """A promise was seen broken that the case need not declare to judge.

        Nothing is recorded after a failed check of the case, see the rules above.

        Raises:
            CheckMisuse: no case is open.
            UnknownRequirementError: the id is not in the catalogue.
        """
        if self._case is None:
            raise CheckMisuse(f"check for {requirement_id} outside of any case")
        level = self._catalogue.requirement(requirement_id).level
        if self._failed_id is None:
            outcome = classify_in_check(AssertionError(reason), level)
            self._add(requirement_id, outcome, self._elapsed_s(), self._api)

    def finish_case(self, exception: BaseException | None) -> list[CheckRecord]:
        """Close the case and return its records, those of unchecked ids included.

        Args:
            exception: what ended the test, None when it ran to its end.

        Raises:
            CheckMisuse: no case is open.
        """
        if self._case is None:
            raise CheckMisuse("no case is open: nothing to finish")
        recorded = {record.requirement for record in self._records}
        open_ids = [name for name in self._declared if name not in recorded]
        if open_ids:
            self._add_all(open_ids, self._outcome_at_end(exception))
        elif exception is not None and exception is not self._accounted:
            # All were checked, yet the test did not come to its end: that may not get lost.
            self._add_all(self._declared, classify_outside(exception))
        self._case = None
        return self._records

    def _require_declared(self, requirement_id: str) -> None:
        if self._case is None:
            raise CheckMisuse(f"check for {requirement_id} outside of any case")
        if requirement_id in self._declared:
            return
        reason = f"the test has a check for {requirement_id} but does not declare to judge it"
        outcome = CheckOutcome(Verdict.HARNESS_ERROR, reason)
        self._accounted = CheckMisuse(reason)
        self._add(requirement_id, outcome, self._elapsed_s(), self._api)
        raise self._accounted

    def _note(
        self, requirement_id: str, error: BaseException, outcomes: Sequence[CheckOutcome]
    ) -> None:
        """Remember the exception that ended a check, and what it means for those that follow."""
        self._accounted = error
        if any(outcome.did_not_hold for outcome in outcomes):
            self._broken = (error, requirement_id)
        if any(outcome.verdict is Verdict.FAILED for outcome in outcomes):
            self._failed_id = self._failed_id or requirement_id

    def _outcome_of(self, error: BaseException, level: str) -> CheckOutcome:
        if error is self._broken[0]:
            return _after(self._broken[1])
        return classify_in_check(error, level)

    def _outcome_at_end(self, exception: BaseException | None) -> CheckOutcome:
        if self._failed_id is not None:
            return _after(self._failed_id)
        if exception is None:
            return CheckOutcome(Verdict.HARNESS_ERROR, "the test recorded no check for it")
        if exception is self._broken[0]:
            return _after(self._broken[1])
        return classify_outside(exception)

    def _add_all(self, ids: Sequence[str], outcome: CheckOutcome) -> None:
        for requirement_id in ids:
            self._add(requirement_id, outcome, self._elapsed_s(), self._api)

    def _add(
        self,
        requirement_id: str,
        outcome: CheckOutcome,
        started_s: float,
        api: _ApiAsked,
        subtest: str | None = None,
    ) -> None:
        assert self._case is not None
        kept = outcome
        after_failure = self._failed_id not in (None, requirement_id)
        if after_failure and outcome.verdict is not Verdict.HARNESS_ERROR:
            kept = _after(self._failed_id)
        requirement = self._catalogue.requirement(requirement_id)
        self._records.append(
            CheckRecord(
                requirement=requirement_id,
                area=requirement.area,
                level=requirement.level,
                case=self._case,
                check=len(self._records) + 1,
                subtest=subtest,
                attempt=self._attempt,
                api_key=api[0],
                api_version=api[1],
                verdict=kept.verdict,
                reason=kept.reason,
                capability_missing=kept.capability_missing,
                duration_ms=(self._elapsed_s() - started_s) * 1000,
                evidence=None,
                at=self._now().isoformat(),
            )
        )


def _after(broken_id: str | None) -> CheckOutcome:
    return CheckOutcome(Verdict.INCONCLUSIVE, f"the check for {broken_id} did not hold before it")


@cache
def _the_recorder() -> Recorder:
    return Recorder(load_catalogue())


def begin_case(
    case: str,
    requirements: Sequence[str],
    *,
    api_key: int | None = None,
    api_version: int | None = None,
    attempt: int = 1,
) -> None:
    """Open a case in this process's recorder; see `Recorder.begin_case`."""
    _the_recorder().begin_case(
        case, requirements, api_key=api_key, api_version=api_version, attempt=attempt
    )


@contextmanager
def requirement(
    requirement_id: str, *, api_key: int | None = None, api_version: int | None = None
) -> Iterator[Check]:
    """One check for one requirement of the open case; see `Recorder.requirement`."""
    recorder = _the_recorder()
    with recorder.requirement(requirement_id, api_key=api_key, api_version=api_version) as check:
        yield check


def broken_meanwhile(requirement_id: str, reason: str) -> None:
    """A promise was seen broken in the open case; see `Recorder.broken_meanwhile`."""
    _the_recorder().broken_meanwhile(requirement_id, reason)


def finish_case(exception: BaseException | None) -> list[CheckRecord]:
    """Close the open case; see `Recorder.finish_case`."""
    return _the_recorder().finish_case(exception)


def with_evidence(records: Sequence[CheckRecord], evidence: Path | str) -> list[CheckRecord]:
    """Point the records that are not plainly passed to their evidence.

    Args:
        evidence: path relative to the run's folder.
    """
    return [
        record
        if record.verdict is Verdict.PASSED and not record.reason
        else replace(record, evidence=str(evidence))
        for record in records
    ]
