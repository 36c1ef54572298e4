"""Subtests: the passes of one check over several specimens, each with a record of its own.

A check that ends at its first wrong specimen hides all others. In a subtest a failure is recorded
and the block goes on; the check fails at its end if any of them did not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.conformance.outcome import CheckOutcome, classify_in_check
from harness.conformance.verdict import Verdict

RecordSubtest: TypeAlias = Callable[[str, CheckOutcome, float], None]
"""Records a subtest: its name, its outcome, and the time at which it began."""


class CheckMisuse(RuntimeError):
    """Checks were used against their rules: no open case, an undeclared id, two cases."""


class SubtestsFailed(AssertionError):
    """Subtests of a check did not hold; the message has the name and reason of each."""


@dataclass(slots=True)
class Check:
    """An open check, for its subtests.

    Attributes:
        level: of the requirement.
        record, now_s: of the case's recorder.
        outcomes: by name, in their order.
        raised: the exception that has its record, None if there is none.
    """

    level: str
    record: RecordSubtest
    now_s: Callable[[], float]
    outcomes: dict[str, CheckOutcome] = field(default_factory=dict)
    raised: BaseException | None = None
    _undecided: list[Exception] = field(default_factory=list)
    _is_open: bool = False

    @contextmanager
    def subtest(self, name: str) -> Iterator[None]:
        """Judge one specimen; the next one is judged whatever becomes of it.

        A connection that the broker closes in one subtest must not be used in the next one.

        Args:
            name: of the specimen; it names the record, so no two subtests of a check share one.

        Raises:
            CheckMisuse: the name is empty or occurs twice, or the subtest is inside of another.
            BaseException: a mistake of the test itself, recorded as harness_error.
        """
        self._require_new(name)
        started_s, self._is_open = self.now_s(), True
        outcome = CheckOutcome(Verdict.PASSED)
        try:
            yield
        except BaseException as error:
            outcome = classify_in_check(error, self.level)
            if outcome.verdict is Verdict.HARNESS_ERROR or not isinstance(error, Exception):
                self.raised = error
                raise
            if not outcome.did_not_hold:
                self._undecided.append(error)
        finally:
            self._is_open = False
            self.outcomes[name] = outcome
            self.record(name, outcome, started_s)

    def finish(self) -> None:
        """End the block.

        Raises:
            SubtestsFailed: at least one subtest did not hold.
            Exception: that of the first subtest without a decision: an inconclusive one, or any
                if no subtest passed.
        """
        broken = [f"{name}: {one.reason}" for name, one in self.outcomes.items()
                  if one.did_not_hold]  # fmt: skip
        if broken:
            self.raised = SubtestsFailed("; ".join(broken))
            raise self.raised
        verdicts = {outcome.verdict for outcome in self.outcomes.values()}
        if Verdict.INCONCLUSIVE in verdicts or (verdicts and Verdict.PASSED not in verdicts):
            self.raised = self._first_undecided()
            raise self.raised

    def _first_undecided(self) -> Exception:
        """The first inconclusive one, else the first."""

        def decides_later(error: Exception) -> bool:
            return classify_in_check(error, self.level).verdict is not Verdict.INCONCLUSIVE

        return min(self._undecided, key=decides_later)

    def _require_new(self, name: str) -> None:
        if self._is_open:
            raise CheckMisuse(f"subtest {name!r} is inside of another subtest")
        if not name or name in self.outcomes:
            raise CheckMisuse(f"subtest {name!r} has no name, or that of another subtest")
