"""The tests that execute each line of the broker, from one run with a recording broker."""

from __future__ import annotations

import json
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from labs.hang_limit import HANGS_AFTER_S

POLL_S = 0.002
WRITES_IN_S = 5 * HANGS_AFTER_S
"""A recording broker is slow: some requests take it a minute on a busy machine."""
_SILENT = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD, psutil.STATUS_STOPPED)


@dataclass(slots=True)
class LineMap:
    """``tests``: their node ids; ``by_line``: ``path:line`` -> numbers of tests as bits."""

    tests: list[str] = field(default_factory=list)
    by_line: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, test: str, lines: Iterable[str]) -> None:
        """Note the lines that a test executed."""
        bit = 1 << len(self.tests)
        self.tests.append(test)
        for line in lines:
            self.by_line[line] |= bit

    def tests_of(self, lines: Iterable[str]) -> list[str]:
        """Return the tests that executed one of these lines, in the order of their run."""
        bits = 0
        for line in lines:
            bits |= self.by_line.get(line, 0)
        return [test for at, test in enumerate(self.tests) if bits >> at & 1]

    def tests_of_file(self, path: str) -> list[str]:
        """Return the tests that executed any line of a file, in the order of their run."""
        return self.tests_of(line for line in self.by_line if line.startswith(f"{path}:"))

    def lines_by_test(self) -> Mapping[str, int]:
        """Return how many lines each test executed: few are typical of a specific test."""
        counts = dict.fromkeys(self.tests, 0)
        for bits in self.by_line.values():
            for at, test in enumerate(self.tests):
                counts[test] += bits >> at & 1
        return counts

    def write(self, file: Path) -> None:
        """Write it as JSON."""
        lines = {line: hex(bits) for line, bits in sorted(self.by_line.items())}
        file.write_text(json.dumps({"tests": self.tests, "lines": lines}) + "\n", "utf-8")

    @classmethod
    def read(cls, file: Path) -> LineMap:
        """Read what `write` has written."""
        found = json.loads(file.read_text("utf-8"))
        return cls(found["tests"], {line: int(bits, 16) for line, bits in found["lines"].items()})


def functions_of(tests: Iterable[str]) -> frozenset[str]:
    """Return the functions of these tests: their node ids without parameters."""
    return frozenset(test.partition("[")[0] for test in tests)


def of_same_functions(tests: Iterable[str], there: Iterable[str]) -> list[str]:
    """Return those of ``there`` that are the same functions with any parameters, in their order."""
    ranks = {test.partition("[")[0]: rank for rank, test in reversed(list(enumerate(tests)))}
    same = [test for test in there if test.partition("[")[0] in ranks]
    return sorted(same, key=lambda test: ranks[test.partition("[")[0]])


@dataclass(slots=True)
class LineCollector:
    """Collects the lines of all recording brokers of a folder, test by test.

    The lines of a paused broker are those of the test in which it goes on.
    """

    folder: Path
    _read: dict[str, int] = field(default_factory=dict)

    def end_test(self) -> set[str]:
        """Return the lines executed since the last call; waits for each broker that runs."""
        running = {file: running_broker(file) for file in self.folder.iterdir()}
        for process in running.values():
            if process is not None:
                process.send_signal(signal.SIGUSR1)
        lines: set[str] = set()
        for file, process in running.items():
            lines |= self._take(file, process)
        return lines

    def _take(self, file: Path, process: psutil.Process | None) -> set[str]:
        deadline = time.monotonic() + WRITES_IN_S
        start = self._read.get(file.name, 0)
        while True:
            text = file.read_bytes()[start:].decode()
            if "\n\n" in text or text.startswith("\n") or not _answers_signals(process):
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"broker {process} does not write its lines")
            time.sleep(POLL_S)
        self._read[file.name] = start + len(text.encode())
        return {line for line in text.split("\n") if line}


def file_of(process: psutil.Process) -> str:
    """Return the name of a recording broker's file; process ids occur again, starts do not."""
    return f"{process.pid}-{process.create_time()}"


def running_broker(file: Path) -> psutil.Process | None:
    """Return the process of such a file, None if it has ended."""
    try:
        process = psutil.Process(int(file.name.partition("-")[0]))
        return process if file_of(process) == file.name else None
    except psutil.NoSuchProcess:
        return None


def _answers_signals(process: psutil.Process | None) -> bool:
    """False for a process that has ended, is ending, or that a test has paused."""
    try:
        return process is not None and process.status() not in _SILENT
    except psutil.NoSuchProcess:
        return False
