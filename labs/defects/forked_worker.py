"""A worker, as seen from the process that forks it.

It is forked from the collected session, so it has imported and collected everything. The kernel
ends it when the process that forked it is gone, however that ended.
"""

from __future__ import annotations

import ctypes
import faulthandler
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

from labs.defects.row_session import RowSession
from labs.defects.row_unit import Message, Unit
from labs.defects.row_worker import RowWorker

PR_SET_PDEATHSIG = 1
END_LIMIT_S = 60
"""Time limit for a worker to stop its brokers."""
SHOWN_CHARACTERS = 4000
TOO_LONG = "Timeout ("
"""First word of the stacks that Python prints at the limit of a case."""
_CONTEXT = multiprocessing.get_context("fork")
_LIBC = ctypes.CDLL(None, use_errno=True)
MakeWorker = Callable[[RowSession, Path, IO[str]], RowWorker]


class ForkedWorker:
    """One process; it has at most one unit."""

    def __init__(self, number: int, session: RowSession, make: MakeWorker, out: Path) -> None:
        """``out``: a folder for its runs, and for what it prints."""
        self.unit: Unit | None = None
        self.row = ""
        """The defect under which its tests run now."""
        out.mkdir(parents=True)
        self._output = out / "printed.txt"
        self.connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(
            target=_work,
            name=f"defects-{number}",
            args=(os.getpid(), session, make, out, self._output, theirs),
        )
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def give(self, unit: Unit) -> None:
        """Send the worker a unit to judge."""
        self.unit, self.row = unit, ""
        self.connection.send(unit)

    def end(self) -> None:
        """End the worker after its unit. Return when it has ended."""
        self.connection.send(None)  # workers hold each other's ends, so a closed one says nothing
        self._process.join(END_LIMIT_S)
        self.kill()

    def kill(self) -> None:
        """End it now; a second call does nothing."""
        self._process.kill()
        self._process.join()
        self.connection.close()

    def how_it_ended(self) -> str:
        """One line about the end of a worker that ended by itself."""
        self._process.join()
        why = "a case took too long" if TOO_LONG in self.printed() else "it ended by itself"
        return f"{why}: its process is gone with exit code {self._process.exitcode}"

    def printed(self) -> str:
        """The end of its output; from the stacks on, if there are any."""
        everything = self._output.read_text("utf-8", "replace")
        at = everything.rfind(TOO_LONG)
        return everything[at:] if at >= 0 else everything[-SHOWN_CHARACTERS:]


def _work(
    parent: int, session: RowSession, make: MakeWorker, out: Path, output: Path, units: Connection
) -> None:
    """Judge units in the forked process until None is received."""
    end_with(parent)
    with output.open("w") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
        faulthandler.enable(file)
        worker = make(session, out, file)
        try:
            while (unit := units.recv()) is not None:
                worker.judge(unit, units.send)
        finally:
            worker.stop()


def end_with(parent: int) -> None:
    """End this process when the parent ends; the parent handles signals."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it was gone before
        os._exit(1)


def next_message(worker: ForkedWorker) -> Message | None:
    """The next message of the worker; None when it has ended."""
    try:
        message: Message = worker.connection.recv()
    except (EOFError, ConnectionResetError):
        return None
    return message
