"""The progress of a run that another process makes, read from the files that grow in its folder."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.conformance.journal import JOURNAL_NAME, check_of
from harness.conformance.record import CheckRecord
from harness.conformance.verdict import Verdict
from harness.runner.begun_cases import BEGUN_NAME, BegunCase, read_begun

WORTH_SAYING_S = 2.0
"""Most cases take less."""
LONGEST_NAME = 60
SHOWN_AT_ONCE = (Verdict.FAILED, Verdict.HARNESS_ERROR)
"""The verdicts of :attr:`RunProgress.failures`."""


@dataclass(slots=True)
class RunProgress:
    """The content that a running session has written so far."""

    run_dir: Path = Path()
    seed: int = 0
    greases: bool = False
    planned: int = 0
    cases: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    has_started: bool = False
    """The target has."""
    running: dict[str, float] = field(default_factory=dict)
    """Case -> when it began, in seconds since the epoch."""
    failures: list[CheckRecord] = field(default_factory=list)
    """The first failed check of each requirement in each case, in the order in which they came."""
    _failed: set[tuple[str, str]] = field(default_factory=set)
    """Case and requirement of each of them."""

    def waits_for(self, now_s: float | None = None) -> str:
        """Describe the current wait: for the case that began first, or for an earlier step."""
        if not self.has_started:
            return "the target starts"
        if not self.planned:
            return "the tests are collected"
        if not self.running:
            return ""
        case = min(self.running, key=self.running.__getitem__)
        took_s = (time.time() if now_s is None else now_s) - self.running[case]
        return f"waiting: {_short(case)} {took_s:.0f} s" if took_s >= WORTH_SAYING_S else ""

    def counts(self) -> str:
        """Describe the numbers of checks by verdict, the most frequent first."""
        return ", ".join(f"{number} {name}" for name, number in self.verdicts.most_common())

    def take(self, line: bytes) -> None:
        """Process a line of the journal."""
        entry = json.loads(line)
        if entry["type"] == "header":
            self.has_started = True
            self.seed, self.greases = entry.get("seed", 0), entry.get("greases", False)
        elif entry["type"] == "plan":
            self.planned = len(entry["cases"])
        elif entry["type"] == "check":
            self.cases.add(entry["case"])
            self.running.pop(entry["case"], None)
            self.verdicts[entry["verdict"]] += 1
            if entry["verdict"] in SHOWN_AT_ONCE:
                self._take_failure(check_of(entry))

    def _take_failure(self, check: CheckRecord) -> None:
        key = (check.case, check.requirement)
        if key not in self._failed:
            self._failed.add(key)
            self.failures.append(check)

    def take_begun(self, begun: BegunCase) -> None:
        """A case has begun; it may have ended since then."""
        if begun.case not in self.cases:
            self.running[begun.case] = begun.at_s


class RunReader:
    """Reads what is new in a run's folder."""

    def __init__(self, run_dir: Path) -> None:
        self.seen = RunProgress(run_dir)
        self._journal = _Growing(run_dir / JOURNAL_NAME)
        self._begun = _Growing(run_dir / BEGUN_NAME)

    def read(self) -> RunProgress:
        """Read all that there is so far."""
        for line in self._journal.new_lines():
            self.seen.take(line)
        # Behind the journal: a case that has ended before this moment was begun before it.
        for line in self._begun.new_lines():
            self.seen.take_begun(read_begun(line))
        return self.seen


class _Growing:
    """A file to which another process appends lines."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0

    def new_lines(self) -> Iterator[bytes]:
        """Whole lines that were not there before; none while there is no file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        yield from data[:whole].splitlines()


def _short(case: str) -> str:
    """Shorten a name; its end is more informative than its beginning."""
    return case if len(case) <= LONGEST_NAME else f"...{case[3 - LONGEST_NAME :]}"
