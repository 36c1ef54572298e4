"""Units go to workers; what dies, hangs or is not killed at once is asked again elsewhere."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

import pytest

from labs.awaiting import await_that
from labs.defects.defect import Where
from labs.defects.forked_worker import ForkedWorker
from labs.defects.row_queue import JudgedRow, NeverClean, RowQueue
from labs.defects.row_session import RowSession
from labs.defects.row_unit import Begun, Message, RowFound, RowUnseen, Unit, UnitDone, UnitFailed
from labs.defects.row_worker import RowWorker

Send = Callable[[Message], None]


@dataclass
class Scripted:
    """In place of a worker: a row's name decides what becomes of it at the first look."""

    places: Path

    def judge(self, unit: Unit, send: Send) -> None:
        send(Begun(""))
        for row in unit.rows:
            send(Begun(row))
            with (self.places / row).open("a") as file:
                file.write(f"{os.getpid()}\n")
            if not self._is_done(row, unit, send):
                return
        send(UnitDone(frozenset({"A-001"})))

    def _is_done(self, row: str, unit: Unit, send: Send) -> bool:
        """False where the tests of the unit fail without a defect."""
        does = row.split("-", maxsplit=1)[0]
        if does == "dies" and not unit.is_alone:
            os.kill(os.getpid(), signal.SIGKILL)
        if (does == "unclean" and not unit.is_alone) or does == "never":
            send(UnitFailed("a test fails"))
            return False
        problem = (
            "not noticed" if (does == "later" and not unit.is_alone) or does == "missed" else ""
        )
        send(RowUnseen(row) if does == "unseen" else RowFound(row, "why", problem, {}))
        return True

    def stop(self) -> None:
        """Nothing runs."""


class Asked:
    """A queue of such workers, and in which processes each row was judged."""

    def __init__(self, folder: Path, jobs: int = 2) -> None:
        self.places = folder / "places"
        self.places.mkdir()
        self.reported: list[str] = []
        self.shown: list[str] = []
        self.forked: list[ForkedWorker] = []
        numbers = itertools.count()

        def fork() -> ForkedWorker:
            out = folder / f"worker-{next(numbers)}"
            self.forked.append(ForkedWorker(0, cast("RowSession", None), self._make, out))
            return self.forked[-1]

        self.queue = RowQueue(jobs, fork, lambda unit: unit, self._report, self.shown.append)

    def _make(self, session: RowSession, out: Path, output: IO[str]) -> RowWorker:
        return cast("RowWorker", Scripted(self.places))

    def _report(self, judged: JudgedRow) -> None:
        self.reported.append(judged.found.row)

    def run(self, *units: Unit) -> dict[str, JudgedRow]:
        return self.queue.run(units)

    def processes(self, row: str) -> list[int]:
        return [int(line) for line in (self.places / row).read_text().split()]


def unit(*rows: str) -> Unit:
    return Unit(Where.SHARED, ("A-001",), rows)


@pytest.fixture(name="asked")
def _asked(tmp_path: Path) -> Asked:
    return Asked(tmp_path)


def test_queue_judges_and_reports_every_row_once(asked: Asked) -> None:
    judged = asked.run(unit("a", "b"), unit("c"), unit("unseen-d"))
    assert sorted(judged) == sorted(asked.reported) == ["a", "b", "c", "unseen-d"]
    assert isinstance(judged["unseen-d"].found, RowUnseen)
    assert {one.first_problem for one in judged.values()} == {""}
    assert asked.queue.proved == {"A-001"}


def test_single_worker_judges_many_units(tmp_path: Path) -> None:
    asked = Asked(tmp_path, jobs=1)
    asked.run(*[unit(f"row-{number}") for number in range(5)])
    assert len(asked.forked) == 1


def test_row_of_killed_worker_is_judged_again_in_new_process(asked: Asked) -> None:
    judged = asked.run(unit("a", "dies-b", "c"), unit("d"))
    assert sorted(judged) == ["a", "c", "d", "dies-b"]
    again = judged["dies-b"]
    assert "exit code -9" in again.first_problem
    (shown,) = asked.shown
    assert shown.startswith("under dies-b: ")
    assert isinstance(again.found, RowFound)
    assert not again.found.problem
    first, second = asked.processes("dies-b")
    assert first != second
    assert second not in asked.processes("a") + asked.processes("c") + asked.processes("d")


def test_row_not_killed_is_judged_again_in_separate_process(asked: Asked) -> None:
    judged = asked.run(unit("a", "later-b"))
    again = judged["later-b"]
    assert again.first_problem == "not noticed"
    assert isinstance(again.found, RowFound)
    assert not again.found.problem
    assert asked.processes("later-b")[0] != asked.processes("later-b")[1]
    assert judged["a"].first_problem == ""


def test_row_missed_twice_keeps_its_problem(asked: Asked) -> None:
    found = asked.run(unit("missed-a"))["missed-a"].found
    assert isinstance(found, RowFound)
    assert found.problem == "not noticed"


def test_rows_of_failed_unit_are_judged_again_in_other_process(asked: Asked) -> None:
    judged = asked.run(unit("a", "unclean-b"))
    assert sorted(judged) == ["a", "unclean-b"]
    assert {one.first_problem for one in judged.values()} == {"without a defect: a test fails"}
    assert asked.processes("a")[0] != asked.processes("a")[1]


def test_unit_that_always_fails_without_defect_raises_never_clean(asked: Asked) -> None:
    with pytest.raises(NeverClean, match="a test fails"):
        asked.run(unit("never-a"), unit("b"))
    await_gone([worker.pid for worker in asked.forked])


def test_alone_unit_gets_separate_process(asked: Asked) -> None:
    alone = [replace(unit(row), is_alone=True) for row in ("a", "b")]
    asked.run(*alone, unit("c"), unit("d"))
    processes = {row: asked.processes(row) for row in "abcd"}
    assert not {*processes["a"]} & {*processes["b"], *processes["c"], *processes["d"]}
    assert not {*processes["b"]} & {*processes["c"], *processes["d"]}


def await_gone(pids: list[int]) -> None:
    await_that(
        lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), f"of {pids} none lives on"
    )
