"""Output that nobody waits for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from queue import Empty, Full, Queue
from threading import Thread

MOST_WAITING = 1_000


class Printer:
    """Writes on a thread of its own: a terminal that is stopped, or a pipe that nobody reads, holds
    up that thread alone.

    What comes while so much waits already is lost. Output that is closed is no error.
    """

    def __init__(self) -> None:
        self._waiting: Queue[Callable[[], object] | None] = Queue(MOST_WAITING)
        self._thread = Thread(target=self._run, name="printer", daemon=True)
        self._thread.start()

    @property
    def is_idle(self) -> bool:
        """Nothing waits to be written."""
        return self._waiting.unfinished_tasks == 0

    def put(self, write: Callable[[], object]) -> None:
        """It is called behind all others."""
        try:
            self._waiting.put_nowait(write)
        except Full:
            return

    def close(self, limit_s: float) -> bool:
        """Whether all was written in this time. Nothing may be put any more."""
        while True:
            try:
                self._waiting.put_nowait(None)
                break
            except Full:  # its end comes before the newest then
                try:
                    self._waiting.get_nowait()
                except Empty:
                    continue
        self._thread.join(limit_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (write := self._waiting.get()) is not None:
            try:
                write()
            except OSError:
                _give_up_output()
            finally:
                self._waiting.task_done()


def _give_up_output() -> None:
    """Whoever read it is gone; what comes goes nowhere, also what Python flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
