"""The lines that `run` prints where there is no terminal, each as soon as its reason happens."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path

from harness.commands.progress import RunProgress
from harness.conformance.record import CheckRecord

LINE_AFTER_S = 10.0
LINE_AFTER_CASES = 100


class RunLines:
    """The lines about one target: its start, its cases so far, each failure, and its end.

    ``out``: the folder that the command of a failed case names.
    """

    def __init__(
        self,
        spec: str,
        out: Path,
        show: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spec, self._out, self._show, self._clock = spec, out, show, clock
        self._began_s = self._shown_s = clock()
        self._shown_cases = self._failures = 0
        self._last = RunProgress()
        self._say("begins")

    def watch(self, seen: RunProgress) -> None:
        """Print what is new since the last call."""
        self._last = seen
        for failure in seen.failures[self._failures :]:
            self._show_failure(failure, seen)
        self._failures = len(seen.failures)
        is_late = self._clock() - self._shown_s >= LINE_AFTER_S
        if is_late or len(seen.cases) - self._shown_cases >= LINE_AFTER_CASES:
            self._shown_s, self._shown_cases = self._clock(), len(seen.cases)
            done = _cases(seen) if seen.planned else ""
            self._say("; ".join(filter(None, [done, seen.waits_for()])))

    def end(self) -> None:
        """Print the last line."""
        self._say(f"ended after {self._clock() - self._began_s:.0f} s; {_cases(self._last)}")

    def _say(self, text: str) -> None:
        self._show(f"{self._spec}: {text}")

    def _show_failure(self, failure: CheckRecord, seen: RunProgress) -> None:
        reason = failure.text.partition("\n")[0]
        verdict, where = failure.verdict.upper(), f"{failure.requirement} in {failure.case}"
        self._say(f"{verdict} {where}: {reason}")
        if failure.evidence:
            self._say(f"  evidence: {seen.run_dir / failure.evidence}")
        words = ["kafka-conformance", "run", "--target", self._spec, "--case", failure.case]
        words += ["--grease"] if seen.greases else []
        words += ["--seed", str(seen.seed)] if seen.seed else []
        self._say(f"  again: {shlex.join([*words, '--out', str(self._out)])}")


def _cases(seen: RunProgress) -> str:
    checks = f"; checks: {seen.counts()}" if seen.verdicts else ""
    return f"{len(seen.cases)} of {seen.planned} cases{checks}"
