"""The tests that execute each line of the broker, from one run with a recording broker."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from labs.hang_limit import HANGS_AFTER_S

POLL_S = 0.002


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


@dataclass(slots=True)
class LineCollector:
    """Collects the lines of all recording brokers of a folder, test by test."""

    folder: Path
    _read: dict[str, int] = field(default_factory=dict)

    def end_test(self) -> set[str]:
        """Return the lines executed since the last call; waits for each broker that runs."""
        marks = {file.name: self._signalled(file) for file in self.folder.iterdir()}
        lines: set[str] = set()
        for name, is_alive in marks.items():
            lines |= self._take(self.folder / name, awaits_mark=is_alive)
        return lines

    def _signalled(self, file: Path) -> bool:
        try:
            os.kill(int(file.name), signal.SIGUSR1)
        except ProcessLookupError:
            return False
        return True

    def _take(self, file: Path, *, awaits_mark: bool) -> set[str]:
        deadline = time.monotonic() + HANGS_AFTER_S
        start = self._read.get(file.name, 0)
        while True:
            text = file.read_bytes()[start:].decode()
            is_marked = "\n\n" in text or text.startswith("\n")
            if is_marked or not awaits_mark or not _is_alive(int(file.name)):
                break
            if time.monotonic() > deadline:
                raise TimeoutError(f"broker {file.name} does not write its lines")
            time.sleep(POLL_S)
        self._read[file.name] = start + len(text.encode())
        return {line for line in text.split("\n") if line}


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
