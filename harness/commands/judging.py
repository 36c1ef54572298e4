"""Running the suites against one target in a pytest process, and watching its journal."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from harness.base import bundle
from harness.base.bundle import renamed_cases_file
from harness.commands.progress import RunProgress, RunReader
from harness.commands.suite_pytest import suite_environment, suite_options
from harness.conformance.journal import JOURNAL_NAME, JournalError, read_journal
from harness.conformance.renamed_cases import present_name, read_renames
from harness.conformance.summary import RunSummary, summarize
from harness.runner.run_session import DATA_NAME, DEATH_NAME, new_run_id
from harness.targets.process import ChildProcess

POLL_MS = 100
INTERRUPT_TIMEOUT_MS = 20_000
SUITE_NAMES = ("protocol", "replication", "durability")


@dataclass(frozen=True, slots=True)
class JudgedTarget:
    """One target, judged: its summary, or why there is none; ``death``: how the target ended."""

    spec: str
    run_dir: Path
    summary: RunSummary | None
    problem: str
    death: str = ""

    @property
    def kept(self) -> Path | None:
        """As :func:`kept_data`."""
        return kept_data(self.run_dir)


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM while a target was judged; ``judged``: what there is of it."""

    def __init__(self, judged: JudgedTarget) -> None:
        super().__init__()
        self.judged = judged


def kept_data(run_dir: Path) -> Path | None:
    """Return the folder with the data of a run's brokers; None if none was kept."""
    folder = run_dir / DATA_NAME
    return folder if folder.is_dir() else None


def suites_root() -> Path:
    """The folder that holds ``suites/``; raises ClickException when it cannot be found."""
    root = bundle.suites_root()
    if not (root / "suites").is_dir():
        raise click.ClickException(
            f"the suites are missing: there is no folder {root / 'suites'}; "
            "install kafka-conformance again"
        )
    return root


def suite_folders(names: Sequence[str]) -> list[str]:
    """Folders to hand to pytest; all suites when none is named."""
    root = suites_root() / "suites"
    there = [name for name in SUITE_NAMES if (root / name).is_dir()]
    unknown = [name for name in names if name not in there]
    if unknown:
        raise click.UsageError(f"no suite {unknown[0]!r}; there are: {', '.join(there)}")
    return [str(root / name) for name in names or there]


def case_arguments(cases: Sequence[str]) -> list[str]:
    """Return pytest's arguments for cases by their names in a journal; raises UsageError."""
    root = suites_root() / "suites"
    renames = read_renames(renamed_cases_file())
    for case in cases:
        if (present := present_name(case, renames)) != case:
            raise click.UsageError(f"no case {case!r}: its present name is {present}")
        file = case.split("::")[0]
        if "::" not in case or not (root / file).is_file():
            raise click.UsageError(
                f"no case {case!r}: it is named as in a journal, "
                "such as protocol/metadata/test_metadata.py::test_name[v3]"
            )
    return [str(root / case) for case in cases]


def judge_target(
    spec: str,
    options: Sequence[str],
    out: Path,
    watch: Callable[[RunProgress], None],
    label: str = "",
) -> JudgedTarget:
    """Run pytest against ``spec``; ``watch`` is called all the time, with what is known of it.

    ``label``: the name of the run in the output, by default the target.
    """
    label = label or spec
    run_id = new_run_id(label, datetime.now(UTC))
    run_dir = out / "runs" / run_id
    run_dir.mkdir(parents=True)
    command = [sys.executable, "-P", "-m", "pytest", *suite_options(), "-q", "--color=no"]
    command += [*options, "--target", spec, "--out", str(out), "--run-id", run_id]
    child = ChildProcess(command, run_dir / "pytest.log", environment=suite_environment())
    try:
        _follow(child, run_dir, watch)
    except KeyboardInterrupt as stop:
        _interrupt(child)
        raise RunInterrupted(_judged(label, run_dir, child)) from stop
    finally:
        child.kill()
    return _judged(label, run_dir, child)


def _follow(child: ChildProcess, run_dir: Path, watch: Callable[[RunProgress], None]) -> None:
    reader, running = RunReader(run_dir), True
    while running:
        running = child.wait(POLL_MS) is None
        watch(reader.read())


def _interrupt(child: ChildProcess) -> None:
    """Let pytest stop the broker by itself, as after a Ctrl-C of its own."""
    if child.is_alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGINT)
        child.wait(INTERRUPT_TIMEOUT_MS)


def _judged(spec: str, run_dir: Path, child: ChildProcess) -> JudgedTarget:
    try:
        summary = summarize(read_journal(run_dir / JOURNAL_NAME))
        problem = "" if summary.complete else _reason(child)
        return JudgedTarget(spec, run_dir, summary, problem, _death(run_dir))
    except (OSError, JournalError):
        return JudgedTarget(spec, run_dir, None, _reason(child))


def _death(run_dir: Path) -> str:
    file = run_dir / DEATH_NAME
    return file.read_text("utf-8") if file.exists() else ""


def _reason(child: ChildProcess) -> str:
    """Return pytest's last error (a line that starts with ERROR), else its last 15 lines.

    The indented lines of a broker's log that follow the error are included.
    """
    lines = child.log_text().rstrip().splitlines()
    errors = [place for place, line in enumerate(lines) if line.startswith("ERROR")]
    if not errors:
        return "\n".join(lines[-15:])
    first, *rest = lines[errors[-1] :]
    log = itertools.takewhile(lambda line: line.startswith("    "), rest)
    return "\n".join([first.removeprefix("ERROR:").strip(), *log])
