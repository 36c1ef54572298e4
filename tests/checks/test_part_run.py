"""One slice as real processes: results, output, sessions, and what is left of it."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import psutil
import pytest

from checks import part_run
from checks.draw import Draw
from checks.part import Command, Part, Slice
from checks.part_run import LATER_NICE, Result, RunFolders, SliceRow, counts_in, run_slice
from labs.awaiting import await_that

DRAW = Draw("w")
BEHIND_ANOTHER_PROCESS = """
import os, time
readable, writable = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        while time.process_time() < 0.5:
            pass
    os._exit(0)
os.close(writable)
os.wait()
os.read(readable, 1)
"""
"""The grandchild computes, and its own parent does not wait for it."""
PYTHON = Path(sys.executable).name
LIMIT_S = 60


def python(text: str, **options: object) -> Command:
    return Command((PYTHON, "-c", text), **options)  # type: ignore[arg-type]


def run(tmp_path: Path, *commands: Command, needs: str = "", stop: bool = False) -> SliceRow:
    ending = threading.Event()
    if stop:
        ending.set()
    part = Part("x", commands, needs=needs)
    return run_slice(Slice(part), DRAW, RunFolders("out", tmp_path), ending, lambda _: None)


def test_part_passes_if_all_commands_pass(tmp_path: Path) -> None:
    row = run(tmp_path, python("print('one')"), python("print('two')"))
    assert row.result is Result.PASSED
    log = (tmp_path / "x.log").read_text("utf-8").splitlines()
    assert [line for line in log if line in ("one", "two")] == ["one", "two"]
    assert row.cpu_seconds > 0
    assert list(tmp_path.iterdir()) == [tmp_path / "x.log"]


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no groups of sessions")
def test_part_that_goes_first_leaves_others_less_of_the_processors(tmp_path: Path) -> None:
    shown = python("print(open('/proc/self/autogroup').read().split()[1:])")
    for goes_first, share in ((True, "0"), (False, LATER_NICE)):
        run_slice(
            Slice(Part("x", (shown,), goes_first=goes_first)),
            DRAW,
            RunFolders("out", tmp_path),
            threading.Event(),
            print,
        )
        assert f"['nice', '{share}']" in (tmp_path / "x.log").read_text("utf-8")


def test_processor_time_of_descendants_counts(tmp_path: Path) -> None:
    assert run(tmp_path, python(BEHIND_ANOTHER_PROCESS)).cpu_seconds >= 0.5


@pytest.mark.parametrize(
    ("command", "result"),
    [
        (python("raise SystemExit(1)"), Result.FAILED),
        (python("raise SystemExit(1)", passes_with=(0, 1)), Result.PASSED),
        (python("raise SystemExit(2)", passes_with=(0, 1)), Result.FAILED),
        (python("raise SystemExit(9)", starved_with=9), Result.STARVED),
        (python("raise SystemExit(1)", starved_with=9), Result.FAILED),
        (python("import os; os.kill(os.getpid(), 9)"), Result.FAILED),
        (Command(("no-such-program-here",)), Result.FAILED),
    ],
)
def test_exit_code_of_command_determines_result(
    tmp_path: Path, command: Command, result: Result
) -> None:
    assert run(tmp_path, command).result is result


def test_no_command_runs_after_failed_command(tmp_path: Path) -> None:
    row = run(tmp_path, python("raise SystemExit(1)"), python("print('never')"))
    assert row.result is Result.FAILED
    assert "\nnever\n" not in (tmp_path / "x.log").read_text("utf-8")


@pytest.mark.parametrize(("in_ci", "result"), [(True, Result.FAILED), (False, Result.NOT_RUN)])
def test_missing_program_fails_part_in_ci_and_skips_it_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_ci: bool, result: Result
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if in_ci:
        monkeypatch.setenv("CI", "true")
    assert run(tmp_path, python("print()"), needs="no-such-program-here").result is result


def test_each_command_runs_in_separate_session(tmp_path: Path) -> None:
    run(tmp_path, python("import os; print('session', os.getsid(0))"))
    words = (tmp_path / "x.log").read_text("utf-8").split()
    assert int(words[words.index("session") + 1]) != os.getsid(0)


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
print("pids", child.pid, flush=True)
try:
    time.sleep(1000)
except KeyboardInterrupt:
    print("in good order", flush=True)
"""


def is_running(pid: int) -> bool:
    """A killed process is a zombie until its parent takes notice."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_stopped_run_ends_its_command_and_child_processes(tmp_path: Path) -> None:
    log, stop, rows = tmp_path / "x.log", threading.Event(), []
    part = Slice(Part("x", (python(STUBBORN),)))
    thread = threading.Thread(
        target=lambda: rows.append(
            run_slice(part, DRAW, RunFolders("out", tmp_path), stop, lambda _: None)
        )
    )
    thread.start()
    await_that(lambda: log.exists() and "\npids " in log.read_text("utf-8"), "it has a child")
    stop.set()
    thread.join(LIMIT_S)
    assert rows[0].result is Result.INTERRUPTED
    printed = log.read_text("utf-8")
    assert "in good order" in printed
    child = int(printed.split("\npids ")[1].split()[0])
    await_that(lambda: not is_running(child), "the child has ended")


def test_counts_of_all_summary_lines_are_summed() -> None:
    printed = "== 3 passed, 1 failed in 2.1s ==\n4 passed in 1s\n5 of 6 defects killed by ..."
    assert counts_in(printed) == "7 passed, 1 failed, 5 killed, 1 not killed"


def test_output_without_summary_lines_has_no_counts() -> None:
    assert counts_in("All checks passed!\n2 files left unchanged") == ""


def test_command_wrapper_file_exists() -> None:
    assert part_run.USAGE.is_file()
