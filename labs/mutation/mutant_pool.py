"""Workers side by side; each gets the next mutant when it has judged one.

One thread does it all, so that forking is safe. A worker that ends by itself has a mutant that
hangs a case or kills the process; a new worker goes on with the next mutant.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from labs.defects.forked_worker import end_with
from labs.defects.row_session import RowSession
from labs.mutation.mutant_worker import MutantWork, MutantWorker
from labs.mutation.verdicts import Fate, JudgedMutant

_CONTEXT = multiprocessing.get_context("fork")


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    connection: Connection
    work: MutantWork | None = None


@dataclass(slots=True)
class MutantPool:
    """Judge all work.

    Attributes:
        session: with everything collected; workers are forked from it.
        spec: the target.
        out: a folder for runs and output.
        jobs: so many workers at a time.
        report: called with each result.
    """

    session: RowSession
    spec: str
    out: Path
    jobs: int
    report: Callable[[JudgedMutant], None]
    _waiting: deque[MutantWork] = field(default_factory=deque)
    _workers: list[_Worker] = field(default_factory=list)
    _forked: int = 0

    def run(self, work: Iterable[MutantWork]) -> None:
        """Return when all is judged."""
        self._waiting.extend(work)
        try:
            for _ in range(min(self.jobs, len(self._waiting))):
                self._give(self._fork())
            while busy := {one.connection: one for one in self._workers if one.work is not None}:
                for ready in wait(list(busy)):
                    self._take(busy[ready])  # type: ignore[index]
        finally:
            for worker in self._workers:
                worker.process.kill()
                worker.process.join()

    def _fork(self) -> _Worker:
        self._forked += 1
        ours, theirs = _CONTEXT.Pipe()
        out = self.out / f"worker-{self._forked}"
        out.mkdir(parents=True)
        process = _CONTEXT.Process(
            target=_work, args=(os.getpid(), self.session, self.spec, out, theirs)
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _give(self, worker: _Worker) -> None:
        worker.work = self._waiting.popleft() if self._waiting else None
        worker.connection.send(worker.work)

    def _take(self, worker: _Worker) -> None:
        assert worker.work is not None
        try:
            found: JudgedMutant = worker.connection.recv()
        except (EOFError, ConnectionResetError):
            self.report(JudgedMutant(worker.work.mutant, Fate.GONE, reason="a case took too long"))
            self._workers.remove(worker)
            worker.process.join()
            if self._waiting:
                self._give(self._fork())
            return
        self.report(found)
        self._give(worker)


def _work(parent: int, session: RowSession, spec: str, out: Path, units: Connection) -> None:
    """Judge in the forked process until None is received."""
    end_with(parent)
    with (out / "printed.txt").open("w") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
        worker = MutantWorker(session, spec, out, file)
        while (work := units.recv()) is not None:
            units.send(worker.judge(work))
