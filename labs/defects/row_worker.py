"""A process that judges unit after unit in the one pytest session that it was forked with.

The tests of a unit run without a defect first, then under each of its defects. If there were
several, they run once more without, to show effects that a row leaves behind; not on the built-in
broker, of which each row can have its own. If a run of the suites has the verdicts without a defect
already, only the runs under the defects are made. A run has its own proxies, with a new rule,
before brokers that stay. Where only the row's own requirement is judged, its run ends at the first
failed check. A case that takes too long ends the process, which prints the stacks of its threads.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from harness.base.address import Address
from harness.conformance.journal import JOURNAL_NAME
from harness.conformance.summary import RunSummary
from harness.conformance.verdict import Verdict
from harness.targets.secured_cluster import SecuredWay
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.baseline import of_requirements
from labs.defects.broker_pool import RowBrokers
from labs.defects.defect import Defect, Where
from labs.defects.outcome import judge
from labs.defects.row_items import ends_first, is_pooled, items_of
from labs.defects.row_session import MakeTarget, RowSession, to_the_end
from labs.defects.row_unit import (
    Begun,
    Message,
    RowFound,
    RowUnseen,
    Unit,
    UnitDone,
    UnitFailed,
)
from labs.defects.struck_target import StruckTargets
from labs.defects.written_checks import has_failed

TIME_SCALE_LIMIT = 4.0
"""Under a defect a wait may be for something that never comes. One slow answer of a busy machine
would make it last twenty times longer.
"""
CASE_LIMIT_S = 600
"""Limit of the start and the end of a target too; more than twice the longest wait of a test, which
is 60 s, times the scale of time.
"""
NOT_ASKED = (Verdict.NOT_SUPPORTED, Verdict.NOT_APPLICABLE)
_DEFECTS = {defect.name: defect for defect in ALL_DEFECTS}


class NotClean(Exception):
    """Tests fail without any defect; the text names them."""


@dataclass(slots=True)
class RowWorker:
    """Judge units.

    Attributes:
        session: with everything collected.
        spec: the target, as it was named.
        is_cluster: True if it has several brokers.
        out: a folder for the runs.
        output: file for the stacks of a case that takes too long.
        baseline: a run without a defect; None: each unit makes its own.
    """

    session: RowSession
    spec: str
    is_cluster: bool
    out: Path
    output: IO[str]
    baseline: RunSummary | None = None
    _pool: RowBrokers = field(default_factory=RowBrokers)
    _runs: int = 0
    _secured: SecuredWay | None = None

    def judge(self, unit: Unit, send: Callable[[Message], None]) -> None:
        """Send the result of each row, and the end of the unit."""
        try:
            with self._shared(unit) as addresses:
                self._judge_before(unit, addresses, send)
        except Exception as problem:
            text = str(problem) if isinstance(problem, NotClean) else repr(problem)
            send(UnitFailed(text))

    def stop(self) -> None:
        """End the private brokers that wait for another row; a second call does nothing."""
        self._pool.stop()

    @contextmanager
    def _shared(self, unit: Unit) -> Iterator[tuple[Address, ...]]:
        """The addresses of the unit's shared broker."""
        needs_none = unit.where in (Where.OFFLINE, Where.BUILT_IN)
        self._secured = unit.secured
        if unit.addresses or needs_none:
            yield unit.addresses
            return
        with parse_target(self.spec, log_dir=self.out / "logs") as own:
            self._secured = own.secured
            yield tuple(own.addresses)

    def _judge_before(
        self, unit: Unit, addresses: tuple[Address, ...], send: Callable[[Message], None]
    ) -> None:
        items = items_of(self.session.items, unit.where, unit.watched, is_cluster=self.is_cluster)
        if unit.ends_at_failure:
            items = ends_first(items)
        send(Begun(""))
        known = self._known(unit, items)
        before = known or self._clean(unit, items, addresses)
        for row in unit.rows:
            defect = _DEFECTS[row]
            if not _is_asked(before, defect.requirement):
                send(RowUnseen(row))
                continue
            send(Begun(row))
            send(self._found(unit, items, addresses, before, defect))
        if len(unit.rows) > 1 and known is None and not parse_target(self.spec).is_light:
            send(Begun(""))
            self._clean(unit, items, addresses)
        send(UnitDone(_proved(before)))

    def _found(
        self,
        unit: Unit,
        items: list[pytest.Item],
        addresses: tuple[Address, ...],
        before: RunSummary | None,
        defect: Defect,
    ) -> RowFound:
        if before is None:
            return RowFound(defect.name, "", f"no test judges {defect.requirement}", {})
        try:
            found = self._run(unit, items, addresses, defect)
        except Exception as problem:
            return RowFound(defect.name, "", f"the run failed: {problem!r}", {})
        watched = unit.watched[0] if unit.watched else "*"
        outcome = judge(defect, before, found, watched, ends_at_failure=unit.ends_at_failure)
        return RowFound(defect.name, outcome.reason, outcome.problem, outcome.changed)

    def _known(self, unit: Unit, items: list[pytest.Item]) -> RunSummary | None:
        """Return the verdicts of the baseline, None for a second look, which makes its own run."""
        if self.baseline is None or not unit.rows or unit.is_alone or not items:
            return None
        known = of_requirements(self.baseline, unit.watched)
        return known if unit.ends_at_failure and known.requirements else None

    def _clean(
        self, unit: Unit, items: list[pytest.Item], addresses: tuple[Address, ...]
    ) -> RunSummary | None:
        """Return the run without a defect; None if it has no tests. Raises NotClean."""
        if not items:
            return None
        found = self._run(unit, items, addresses, None)
        bad = found.counts[Verdict.FAILED] or found.counts[Verdict.HARNESS_ERROR]
        if bad or not found.complete or found.unproved:
            raise NotClean("\n".join(found.sentences()))
        return found

    def _run(
        self,
        unit: Unit,
        items: list[pytest.Item],
        addresses: tuple[Address, ...],
        defect: Defect | None,
    ) -> RunSummary:
        self._runs += 1
        name = f"run-{self._runs}-{(defect.name if defect else 'clean').replace('_', '-')}"
        journal = self.out / "runs" / name / JOURNAL_NAME
        is_decided = unit.ends_at_failure and defect is not None
        self.session.until = partial(has_failed, journal) if is_decided else to_the_end
        self.session.before_each = self._begin_limit
        self._begin_limit()
        try:
            targets = StruckTargets(self.spec, addresses, self._pool_for_test, self._secured)
            with targets.under(unit.where, defect) as make_target:
                make = make_target if defect is None else _with_short_waits(make_target)
                # What was imported before the wrong function was put in place has the right one.
                is_stale = unit.where is Where.OFFLINE and defect is not None
                run = self.session.run_imported_anew if is_stale else self.session.run
                return run(items, make, self.out, name)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _begin_limit(self) -> None:
        faulthandler.dump_traceback_later(CASE_LIMIT_S, exit=True, file=self.output)

    def _pool_for_test(self) -> RowBrokers | None:
        """The pool of private brokers; None for a test that has its broker for itself."""
        running = self.session.running
        return self._pool if running is not None and is_pooled(running) else None


def _with_short_waits(make_target: MakeTarget) -> MakeTarget:
    def made(log_dir: Path | None) -> Target:
        target = make_target(log_dir)
        target.time_scale_limit = TIME_SCALE_LIMIT
        return target

    return made


def _is_asked(before: RunSummary | None, requirement: str) -> bool:
    """True unless the target does not serve the requirement, or does not allow its tests."""
    found = before.requirements.get(requirement) if before else None
    return found is None or found.verdict not in NOT_ASKED


def _proved(before: RunSummary | None) -> frozenset[str]:
    every = before.requirements.items() if before else ()
    return frozenset(
        name for name, one in every if one.level == "MUST" and one.verdict is Verdict.PASSED
    )
