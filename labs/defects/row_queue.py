"""A queue that gives units to workers and collects their results.

One thread does it all, so that forking is safe: it waits until a worker sends something or ends.
When a worker ends, its row is judged a second time, and the rest of its unit returns to the queue.
A row with a defect that no test noticed is judged a second time in a new process and before a new
broker, so that effects of one row on the next decide nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait

from labs.defects.forked_worker import ForkedWorker, next_message
from labs.defects.row_unit import (
    Begun,
    Message,
    RowFound,
    RowUnseen,
    Unit,
    UnitDone,
    UnitFailed,
)

MakeForked = Callable[[], ForkedWorker]
Prepare = Callable[[Unit], Unit]


class NeverClean(Exception):
    """Tests fail without any defect, even in a new process; the text names them."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The result of one row; ``first_problem``: of the first look, if there was a second one."""

    found: RowFound | RowUnseen
    first_problem: str = ""


@dataclass(slots=True)
class RowQueue:
    """Run a table's units.

    Attributes:
        jobs: so many workers at a time.
        fork: makes a worker.
        prepare: completes a unit when a worker is given it.
        report: called with each row as soon as it is decided.
        show: called with the output of a worker that ended by itself.
    """

    jobs: int
    fork: MakeForked
    prepare: Prepare
    report: Callable[[JudgedRow], None]
    show: Callable[[str], None]
    proved: set[str] = field(default_factory=set)
    """The MUST requirements that passed without a defect."""
    _waiting: deque[Unit] = field(default_factory=deque)
    _workers: list[ForkedWorker] = field(default_factory=list)
    _found: dict[str, RowFound | RowUnseen] = field(default_factory=dict)
    """Results of the first look, by row, of units that are not done."""
    _looked: dict[str, str] = field(default_factory=dict)
    """The problem of the first look, by row, for those that get a second one."""
    _judged: dict[str, JudgedRow] = field(default_factory=dict)

    def run(self, units: Iterable[Unit]) -> dict[str, JudgedRow]:
        """Return every row by its name. Raises NeverClean."""
        self._waiting.extend(units)
        try:
            while self._hand_out():
                for ready in wait([worker.connection for worker in self._workers]):
                    (worker,) = [one for one in self._workers if one.connection is ready]
                    self._take(worker, next_message(worker))
            for worker in self._workers:
                worker.end()
        finally:
            for worker in self._workers:
                worker.kill()
        return self._judged

    def _hand_out(self) -> bool:
        """Give waiting units to workers. Return True if a worker has a unit."""
        for worker in [one for one in self._workers if one.unit is None]:
            if not self._suits(worker):
                self._workers.remove(worker)
                worker.end()
        while self._waiting and sum(one.unit is not None for one in self._workers) < self.jobs:
            unit = self._waiting.popleft()
            self._worker_for(unit).give(self.prepare(unit))
        return any(worker.unit is not None for worker in self._workers)

    def _suits(self, idle: ForkedWorker) -> bool:
        """True if this worker is still of use: some units do not need a process of their own."""
        return any(not unit.is_alone for unit in self._waiting)

    def _worker_for(self, unit: Unit) -> ForkedWorker:
        idle = [one for one in self._workers if one.unit is None]
        if idle and not unit.is_alone:
            return idle[0]
        made = self.fork()
        self._workers.append(made)
        return made

    # -- messages of workers ---------------------------------------------------------------------

    def _take(self, worker: ForkedWorker, message: Message | None) -> None:
        unit = worker.unit
        if unit is None:  # it had none to lose
            self._workers.remove(worker)
            worker.kill()
            return
        match message:
            case Begun(row):
                worker.row = row
            case RowFound(row) | RowUnseen(row):
                self._found[row] = message
            case UnitDone(proved):
                self.proved |= proved
                self._leave(worker)
                self._decide(unit)
            case UnitFailed(problem):
                self._leave(worker)
                self._failed(unit, problem)
            case None:
                self._workers.remove(worker)
                problem = worker.how_it_ended()
                worker.kill()
                self.show(f"under {worker.row or 'no defect'}: {problem}\n{worker.printed()}")
                self._died(unit, worker.row, problem)

    def _leave(self, worker: ForkedWorker) -> None:
        """Take the unit from the worker, and end the worker if it was for that unit alone."""
        unit, worker.unit = worker.unit, None
        if unit is not None and unit.is_alone:
            self._workers.remove(worker)
            worker.end()

    def _decide(self, unit: Unit) -> None:
        for row in unit.rows:
            found = self._found.pop(row)
            problem = found.problem if isinstance(found, RowFound) else ""
            if problem and row not in self._looked:
                self._look_again(unit, row, problem)
            else:
                self._is_judged(row, found)

    def _failed(self, unit: Unit, problem: str) -> None:
        """Judge the unit again: its tests fail without a defect, so its results do not count."""
        for row in unit.rows:
            self._found.pop(row, None)
        if unit.is_alone and (not unit.rows or unit.rows[0] in self._looked):
            raise NeverClean(problem)
        for one in unit.one_by_one():
            self._look_again(one, one.rows[0], f"without a defect: {problem}")
        if not unit.rows:
            self._waiting.append(replace(unit, addresses=(), is_alone=True))

    def _died(self, unit: Unit, row: str, problem: str) -> None:
        """The process of this unit ended under this row, or without a defect before the first."""
        for one in unit.rows:
            self._found.pop(one, None)
        if not row:
            self._failed(unit, problem)
            return
        rest = tuple(one for one in unit.rows if one != row)
        if row in self._looked:
            self._is_judged(row, RowFound(row, "", problem, {}))
        else:
            self._look_again(unit, row, problem)
        if rest:
            self._waiting.appendleft(replace(unit, rows=rest))

    def _look_again(self, unit: Unit, row: str, problem: str) -> None:
        self._looked[row] = problem
        self._waiting.extend(replace(unit, rows=(row,)).one_by_one())

    def _is_judged(self, row: str, found: RowFound | RowUnseen) -> None:
        self._judged[row] = JudgedRow(found, self._looked.get(row, ""))
        self.report(self._judged[row])
