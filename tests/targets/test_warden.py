"""The warden by itself: every way in which its parent, its command or the warden may end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from harness.targets import warden
from labs.hang_limit import HANGS_AFTER_S
from tests.targets.kinds import ROOT

WARDEN = (sys.executable, "-m", "harness.targets.warden")
# A command with a child in its group that ignores every polite signal.
STUBBORN = (
    sys.executable,
    "-c",
    (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    ),
)


def start(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*WARDEN, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )


def stubborn(*options: str) -> tuple[subprocess.Popen[bytes], list[psutil.Process]]:
    """A warden with its stubborn command, and the two processes that must go."""
    process = start(*options, "--", *STUBBORN)
    assert process.stdout is not None
    grandchild = psutil.Process(int(process.stdout.readline()))
    return process, [grandchild, psutil.Process(grandchild.ppid())]


def gone(processes: list[psutil.Process], timeout_s: float = 15) -> bool:
    return not psutil.wait_procs(processes, timeout=timeout_s)[1]


def close_stdin(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()


def test_warden_exits_with_status_of_command() -> None:
    with start("--", sys.executable, "-c", "raise SystemExit(7)") as process:
        assert process.wait(HANGS_AFTER_S) == 7


def test_command_ended_by_signal_gives_status_128_plus_signal() -> None:
    command = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    with start("--", sys.executable, "-c", command) as process:
        assert process.wait(HANGS_AFTER_S) == 128 + signal.SIGKILL


@pytest.mark.rotates(8)
@pytest.mark.parametrize(
    "end",
    [
        close_stdin,
        lambda process: process.send_signal(signal.SIGTERM),
        lambda process: process.send_signal(signal.SIGINT),
        lambda process: process.send_signal(signal.SIGHUP),
    ],
    ids=["end of file", "SIGTERM", "SIGINT", "SIGHUP"],
)
def test_end_of_input_or_signal_kills_whole_group(
    end: Callable[[subprocess.Popen[bytes]], None],
) -> None:
    process, members = stubborn()
    with process:
        end(process)
        assert gone(members)
        assert process.wait(HANGS_AFTER_S) == 128 + signal.SIGKILL


@pytest.mark.rotates(8)
def test_end_of_command_kills_its_children() -> None:
    command = (
        "import subprocess, sys\n"
        "print(subprocess.Popen(['sleep', '600']).pid, flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with start("--", sys.executable, "-c", command) as process:
        assert process.stdout is not None
        left_over = psutil.Process(int(process.stdout.readline()))
        assert process.wait(HANGS_AFTER_S) == 0
        assert gone([left_over])


@pytest.mark.rotates(8)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a parent-death signal")
def test_killed_warden_ends_its_command() -> None:
    process, members = stubborn()
    with process:
        process.kill()
        assert gone(members[1:])
        members[0].kill()  # the command's own child is beyond the death signal's reach


@pytest.mark.rotates(8)
def test_death_of_parent_ends_command_although_sibling_holds_pipe(tmp_path: Path) -> None:
    """The parent dies, but its pipe stays open in a process forked from it."""
    ready = tmp_path / "ready"
    script = (
        "import os, subprocess, sys, time\n"
        f"words = {[*WARDEN, '--', 'sleep', '600']!r}\n"
        "process = subprocess.Popen(words, stdin=subprocess.PIPE)\n"
        "sibling = os.fork()\n"
        "if sibling == 0:\n"
        "    time.sleep(600)\n"
        f"with open({str(ready)!r} + '.new', 'w') as file: print(sibling, process.pid, file=file)\n"
        f"os.rename({str(ready)!r} + '.new', {str(ready)!r})\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    deadline = time.monotonic() + HANGS_AFTER_S
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    sibling, guard = (psutil.Process(int(word)) for word in ready.read_text().split())
    members = [guard]
    while len(members) < 2 and time.monotonic() < deadline:
        members = [guard, *guard.children()]
    parent.kill()
    parent.wait()
    try:
        assert len(members) == 2
        assert gone(members)
        assert sibling.is_running()
    finally:
        sibling.kill()


@pytest.mark.rotates(8)
def test_folder_is_removed_at_end(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("x")
    process, members = stubborn("--remove", str(folder))
    with process:
        assert folder.exists()
        close_stdin(process)
        process.wait(HANGS_AFTER_S)
        assert gone(members)
        assert not folder.exists()


def test_command_has_empty_input_and_leads_session() -> None:
    command = "import os, sys; print(sys.stdin.read() == '', os.getsid(0) == os.getpid())"
    with start("--", sys.executable, "-c", command) as process:
        assert process.stdout is not None
        assert process.stdout.read().split() == [b"True", b"True"]


def test_report_contains_pid_of_command() -> None:
    readable, writable = os.pipe()
    words = [*WARDEN, "--report-fd", str(writable), "--", "sleep", "600"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, pass_fds=[writable], cwd=ROOT) as process:
        os.close(writable)
        with os.fdopen(readable, "rb") as report:
            kind, pid = report.readline().split()
            assert report.read() == b"", "the command does not hold the descriptor"
        assert kind == b"pid"
        assert psutil.Process(int(pid)).cmdline() == ["sleep", "600"]
        close_stdin(process)
        assert process.wait(HANGS_AFTER_S) == 128 + signal.SIGKILL


def test_missing_command_exits_with_not_started_status() -> None:
    words = [*WARDEN, "--", "/nowhere/at/all"]
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=ROOT
    )
    assert done.returncode == warden.EXIT_NOT_STARTED
    assert b"/nowhere/at/all" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--"],
        ["sleep", "1"],
        ["--report-fd", "--", "x"],
        ["--report-fd", "a", "--"],
        ["--remove", "x", "--"],
        ["--hold-fd", "0"],
    ],
)
def test_invalid_command_line_exits_with_usage_status(words: list[str]) -> None:
    done = subprocess.run(
        [*WARDEN, *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == warden.EXIT_USAGE
    assert b"usage:" in done.stderr


def test_warden_imports_no_heavy_module() -> None:
    code = (
        "import sys; before = set(sys.modules); import harness.targets.warden;"
        "print(' '.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    heavy = {"subprocess", "asyncio", "psutil", "shutil", "socket", "logging", "harness.codec"}
    assert not heavy & set(done.stdout.split())
