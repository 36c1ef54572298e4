"""All rows of a table, from a started target to outcomes.

The suites are collected once; workers are forked from that session.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from harness.conformance.catalogue import load_catalogue
from harness.conformance.summary import RunSummary
from harness.conformance.where_judged import files_that_judge
from harness.runner.case_selection import judged
from harness.targets.scratch import ScratchFolder
from harness.targets.spec import parse_target
from harness.targets.target import Target
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.chosen_rows import has_several_nodes
from labs.defects.defect import Defect
from labs.defects.forked_worker import ForkedWorker
from labs.defects.outcome import RowOutcome
from labs.defects.repeated_work import do_repeated_work
from labs.defects.row_items import CLUSTER_SUITES
from labs.defects.row_queue import JudgedRow, RowQueue
from labs.defects.row_session import RowSession
from labs.defects.row_unit import RowFound, Unit, units_of
from labs.defects.row_worker import RowWorker
from labs.defects.seen_on import shown_by_any
from labs.defects.table import DefectTable
from labs.defects.unit_order import durations_of, longest_first

SUITES = ("suites",)
OnRow = Callable[[Defect, JudgedRow], None]
Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Options of the command.

    Attributes:
        spec: the target.
        chosen: the rows.
        complete: these are all rows of the target.
        jobs: so many workers at a time.
        versions: "all", or "ends" for the first and last of each range, which is much quicker.
        scope: "area" to watch the area of a defect, "all" for every area.
        alone: the rows, by name, under which the scope is watched, under the others their own
            requirement; None: all.
        baseline: a run of the suites without a defect; None: the table makes such runs.
    """

    spec: str
    chosen: list[Defect]
    complete: bool
    jobs: int
    versions: str
    scope: str
    alone: Set[str] | None
    baseline: RunSummary | None = None

    def watched(self, defect: Defect) -> tuple[str, ...]:
        """The requirements that are judged under the defect, as patterns; none means all."""
        if self.alone is not None and defect.name not in self.alone:
            return (defect.requirement,)
        return (f"{defect.area}-*",) if self.scope == "area" else ()

    @property
    def is_cluster(self) -> bool:
        """True if the target has several brokers."""
        return has_several_nodes(self.spec)

    @property
    def suites(self) -> Sequence[str]:
        """Folders with the tests for the target, or the files alone that the rows need."""
        folders = CLUSTER_SUITES if self.is_cluster else SUITES
        watched = {name for defect in self.chosen for name in self.watched(defect) or "*"}
        if self.complete or any("*" in name for name in watched):
            return folders
        files = [file for folder in folders for file in files_that_judge(watched, Path(folder))]
        return [str(file) for file in files] or folders

    @property
    def options(self) -> list[str]:
        """The command line options of the tests."""
        return ["--versions", self.versions, "--target", self.spec]


@dataclass(slots=True)
class SharedTarget:
    """The broker, or cluster, of the workers; started again when it has ended under a row."""

    running: Target

    def for_unit(self, unit: Unit) -> Unit:
        """The unit with the shared address, unless it gets its own broker."""
        if unit.is_alone:
            return unit
        if not self.running.is_alive():
            self.running.stop()
            self.running.start()
        addresses, secured = tuple(self.running.addresses), self.running.secured
        return replace(unit, addresses=addresses, secured=secured)


@dataclass(slots=True)
class TableRun:
    """Run the rows of a command.

    ``on_row`` is called with each row, ``show`` with the output of a worker that ended by itself.
    """

    asked: TableRequest
    on_row: OnRow
    show: Show
    _judged: dict[str, JudgedRow] = field(default_factory=dict)
    _proved: set[str] = field(default_factory=set)

    def table(self) -> DefectTable:
        """Return the table. Raises TargetError, CollectionFailed, NeverClean."""
        RowSession(self._work).collect(self.asked.suites, self.asked.options)
        rows = {name: one for name, one in self._judged.items() if isinstance(one.found, RowFound)}
        seen = [defect for defect in self.asked.chosen if defect.name in rows]
        unseen = [one for one in self.asked.chosen if one.name not in rows]
        return DefectTable(
            self.asked.spec,
            [_outcome(defect, rows[defect.name]) for defect in seen],
            self._unproved(),
            [f"{one.requirement} {one.name}" for one in unseen],
            self.asked.complete,
            datetime.now(UTC).isoformat(),
            None if self.asked.alone is None else len(self.asked.alone & rows.keys()),
        )

    def _work(self, session: RowSession) -> None:
        units = [*units_of(self.asked.chosen, self.asked.watched), *self._units_of_others(session)]
        if self.asked.baseline is not None:
            units = longest_first(units, durations_of(self.asked.baseline))
        do_repeated_work()
        gc.collect()
        gc.freeze()  # workers are forked from here: what is collected stays shared
        with _folder() as place, parse_target(self.asked.spec, log_dir=place / "logs") as running:
            numbers = itertools.count(1)

            def fork() -> ForkedWorker:
                number = next(numbers)
                out = place / f"worker-{number}"
                return ForkedWorker(number, session, self._worker, out)

            shared = SharedTarget(running)
            queue = RowQueue(self.asked.jobs, fork, shared.for_unit, self._report, self.show)
            self._judged = queue.run(units)
            self._proved = queue.proved

    def _worker(self, session: RowSession, out: Path, output: IO[str]) -> RowWorker:
        asked = self.asked
        return RowWorker(session, asked.spec, asked.is_cluster, out, output, asked.baseline)

    def _units_of_others(self, session: RowSession) -> list[Unit]:
        """For a complete table: units of tested requirements without a row."""
        if not self.asked.complete:
            return []
        catalogue = load_catalogue()
        tested = {name for item in session.items for name in judged(item)}
        musts = {name for name in tested if catalogue.requirement(name).level == "MUST"}
        others = tuple(sorted(musts - {one.requirement for one in self.asked.chosen}))
        wheres = dict.fromkeys(defect.where for defect in self.asked.chosen)
        return [Unit(where, others, ()) for where in wheres if others]

    def _unproved(self) -> list[str]:
        """MUST requirements that are judged and have no defect on this or another target."""
        if not self.asked.complete:
            return []
        elsewhere = {one.requirement for one in ALL_DEFECTS if shown_by_any(one)}
        return sorted(self._proved - {one.requirement for one in self.asked.chosen} - elsewhere)

    def _report(self, judged: JudgedRow) -> None:
        (defect,) = [one for one in self.asked.chosen if one.name == judged.found.row]
        self.on_row(defect, judged)


def _outcome(defect: Defect, judged: JudgedRow) -> RowOutcome:
    found = judged.found
    assert isinstance(found, RowFound)
    return RowOutcome(defect, found.reason, found.problem, found.changed, judged.first_problem)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that is removed at the end."""
    scratch = ScratchFolder()
    try:
        yield scratch.path
    finally:
        scratch.remove()
