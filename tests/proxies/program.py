"""``kafka-conformance proxy`` as a process, and its output."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from queue import Empty, Queue
from threading import Thread
from time import monotonic

from harness.base.address import Address
from labs.hang_limit import HANGS_AFTER_S

LIMIT_S = HANGS_AFTER_S
COMMAND = [sys.executable, "-P", "-m", "harness.cli", "proxy"]


class Program:
    """A running program; its standard output is read line by line as it comes."""

    def __init__(self, *words: object) -> None:
        self.lines: list[str] = []
        self._queue: Queue[str | None] = Queue()
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self._reader = Thread(target=self._read, name="lines")
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def line(self, pattern: str) -> re.Match[str]:
        """The first line that matches, even among those that came before."""
        for before in self.lines:
            if found := re.search(pattern, before):
                return found
        deadline = monotonic() + LIMIT_S
        while (line := self._next(deadline)) is not None:
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"no line with {pattern!r}; it said:\n" + "\n".join(self.lines))

    def _next(self, deadline: float) -> str | None:
        try:
            line = self._queue.get(timeout=max(0.0, deadline - monotonic()))
        except Empty:
            return None
        if line is not None:
            self.lines.append(line)
        return line

    def proxy_of(self, upstream: tuple[str, int]) -> Address:
        """The address of the proxy for an upstream."""
        text = re.escape(str(Address(*upstream)))
        found = self.line(rf"(\S+):(\d+) stands for {text}(?: |$)")
        return Address(found[1], int(found[2]))

    def control(self) -> str:
        return self.line(r"control API at (http://\S+)")[1]

    def signalled(self, number: signal.Signals) -> int:
        """Its exit code after this signal; all its lines are read then."""
        self.process.send_signal(number)
        code = self.process.wait(LIMIT_S)
        while self._next(monotonic() + LIMIT_S) is not None:
            pass
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextlib.contextmanager
def program(*words: object) -> Iterator[Program]:
    running = Program(*words)
    try:
        yield running
    finally:
        running.close()


def refused(*words: object) -> tuple[int, str]:
    """The exit code and the output of a program that does not start."""
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.returncode, done.stdout
