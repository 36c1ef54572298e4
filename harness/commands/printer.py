"""Output that does not block the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from queue import Empty, Full, Queue
from threading import Thread

MOST_WAITING = 1_000


class Printer:
    """A writer with a thread of its own: a stopped terminal or an unread pipe blocks that thread
    alone.

    A write is lost while ``MOST_WAITING`` others wait. Output that is closed is no error.
    """

    def __init__(self) -> None:
        self._waiting: Queue[Callable[[], object] | None] = Queue(MOST_WAITING)
        self._thread = Thread(target=self._run, name="printer", daemon=True)
        self._thread.start()

    @property
    def is_idle(self) -> bool:
        """True if no write waits."""
        return self._waiting.unfinished_tasks == 0

    def put(self, write: Callable[[], object]) -> None:
        """Queue ``write`` behind all others, or drop it if the queue is full."""
        try:
            self._waiting.put_nowait(write)
        except Full:
            return

    def close(self, limit_s: float) -> bool:
        """End the thread within ``limit_s``; True if all was written. No write may follow."""
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
    """Send all further output to the null device: its reader has closed it.

    This includes what Python flushes at its end.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
