"""One slice of a part, run: each command in a scheduler session of its own.

The kernel divides the processors between sessions (autogroups). In the session of its neighbours a
test that measures time would get a tenth of what it gets in its own. A warden stands behind each
command, so nothing is left of it when this process ends, whatever ends it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from threading import Event

from checks.draw import ROOT, Draw
from checks.part import Command, Slice
from harness.targets.process import ChildProcess

BIN = Path(sys.executable).parent
USAGE = Path(__file__).with_name("usage.py")
POLL_MS = 200
END_TIMEOUT_MS = 30_000
LATER_NICE = "4"
"""The nice value of the sessions of parts that leave others a larger share."""
_SUMMARY = re.compile(r"\b(\d+) (passed|failed|errors?|skipped)\b")
_KILLED = re.compile(r"(\d+) of (\d+) defects killed")


class Result(Enum):
    PASSED = "passed"
    FAILED = "FAILED"
    STARVED = "inconclusive"
    INTERRUPTED = "interrupted"
    NOT_RUN = "not run"


@dataclass(slots=True)
class SliceRow:
    """A slice after its run; ``counts``: the last summary line that its programs printed."""

    slice: Slice
    result: Result = Result.NOT_RUN
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    counts: str = ""


@dataclass(frozen=True, slots=True)
class RunFolders:
    """Where runs write: ``out`` below ROOT for results, ``logs`` for the output of each slice."""

    out: str
    logs: Path

    def log(self, one: Slice) -> Path:
        return self.logs / f"{one.file_name}.log"


def run_slice(
    one: Slice, draw: Draw, place: RunFolders, stop: Event, show: Callable[[bytes], None]
) -> SliceRow:
    """Run its commands up to the first that fails; ``show`` gets the output as it comes.

    ``stop``: once it is set, the running command is ended and no other begins.
    """
    row, began = SliceRow(one), time.monotonic()
    log = place.log(one)
    log.write_bytes(b"")
    if one.part.needs and shutil.which(one.part.needs) is None:
        _say(log, f"{one.name}: not run: there is no program {one.part.needs!r} on PATH", show)
        row.result = Result.FAILED if "CI" in os.environ else Result.NOT_RUN
        return row
    row.result = Result.PASSED
    for command in one.commands(draw, place.out):
        _say(log, f"\n== {one.name}: {' '.join(command.words)}", show)
        row.result = _run(command, log, row, stop, show)
        if row.result is not Result.PASSED:
            break
    row.seconds = time.monotonic() - began
    row.counts = counts_in(log.read_text("utf-8", "replace"))
    return row


def _run(
    command: Command, log: Path, row: SliceRow, stop: Event, show: Callable[[bytes], None]
) -> Result:
    # Compiled modules make the many Python processes of a part start several times quicker.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    usage = log.with_suffix(".cpu")
    program, *rest = command.words
    share = "0" if row.slice.part.goes_first else LATER_NICE
    words = [sys.executable, "-S", str(USAGE), str(usage), share, str(BIN / program), *rest]
    seen = log.stat().st_size
    child = ChildProcess(words, log, environment=environment, directory=ROOT)
    try:
        while child.wait(POLL_MS) is None:
            seen = _follow(log, seen, show)
            if stop.is_set():
                child.terminate(END_TIMEOUT_MS)
                return Result.INTERRUPTED
        _follow(log, seen, show)
        code = child.exit_code()
    finally:
        child.kill()
    if usage.exists():
        row.cpu_seconds += float(usage.read_text("utf-8"))
        usage.unlink()
    if code in command.passes_with:
        return Result.PASSED
    return Result.STARVED if code == command.starved_with else Result.FAILED


def _follow(log: Path, seen: int, show: Callable[[bytes], None]) -> int:
    """Show what the log has got since byte ``seen``; returns its size."""
    with log.open("rb") as file:
        file.seek(seen)
        show(file.read())
        return file.tell()


def _say(log: Path, line: str, show: Callable[[bytes], None]) -> None:
    text = f"{line}\n".encode()
    with log.open("ab") as file:
        file.write(text)
    show(text)


def counts_in(printed: str) -> str:
    """The sums of all summary lines of pytest and of the defect table, ``12 passed, 1 failed``."""
    sums: Counter[str] = Counter()
    for line in printed.splitlines():
        if table := _KILLED.match(line):
            sums["killed"] += int(table[1])
            sums["not killed"] += int(table[2]) - int(table[1])
        elif " in " in line:
            for number, word in _SUMMARY.findall(line):
                sums["errors" if word.startswith("error") else word] += int(number)
    return ", ".join(f"{number} {name}" for name, number in sums.items())
