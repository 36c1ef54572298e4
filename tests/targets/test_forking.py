"""Python commands that are forked instead of executed: only their time differs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.targets import forking
from harness.targets.errors import TargetStartError
from harness.targets.forking import ForkedProcess, ForkServer, forked_words
from harness.targets.process import ChildProcess
from harness.targets.scratch import ScratchFolder
from harness.targets.starting import start_process
from labs.awaiting import await_that
from labs.hang_limit import HANGS_AFTER_S
from tests.targets.kinds import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux alone")
LIMIT_MS = HANGS_AFTER_S * 1000


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture
def started(server: ForkServer, tmp_path: Path) -> Iterator["Starter"]:
    starter = Starter(server, tmp_path)
    yield starter
    for child in starter.children:
        child.kill()


class Starter:
    """Writes a module into a folder and forks ``python -m`` of it there."""

    def __init__(self, server: ForkServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.children: list[ChildProcess] = []

    def __call__(self, code: str, *arguments: str, **options: object) -> ForkedProcess:
        (self.folder / "command.py").write_text(code)
        options = {"environment": dict(os.environ), "directory": self.folder, **options}
        words = [sys.executable, "-m", "command", *arguments]
        child = ForkedProcess(self.server, words, self.folder / "a.log", **options)
        self.children.append(child)
        return child


SLEEPS = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"


def test_forked_command_has_arguments_environment_folder_and_status(started: Starter) -> None:
    code = (
        "import os, sys\n"
        "print(sys.argv[1:], os.environ['WORD'], 'HOME' in os.environ, os.getcwd(), __name__)\n"
        "print('error', file=sys.stderr)\n"
        "sys.exit(4)\n"
    )
    child = started(code, "a", "b c", environment={"WORD": "x"})
    assert child.wait(LIMIT_MS) == 4
    expected = [f"['a', 'b c'] x False {started.folder} __main__", "error"]
    assert child.log_text().splitlines() == expected
    assert not child.is_alive()


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("pass", 0, ""),
        ("raise ValueError('why')", 1, "ValueError: why"),
        ("import sys; sys.exit('why')", 1, "why"),
        ("import os; os.kill(os.getpid(), 9)", 128 + signal.SIGKILL, ""),
    ],
    ids=["end", "exception", "exit with a text", "signal"],
)
def test_exit_status_and_output_follow_end_of_command(
    started: Starter, code: str, status: int, said: str
) -> None:
    child = started(code)
    assert child.wait(LIMIT_MS) == status
    assert said in child.log_text()


def test_atexit_functions_of_command_run(started: Starter) -> None:
    child = started("import atexit; atexit.register(print, 'at the end')")
    assert child.wait(LIMIT_MS) == 0
    assert child.log_text() == "at the end\n"


def test_command_inherits_no_file_descriptor(started: Starter) -> None:
    child = started("import os\nprint(sorted(int(name) for name in os.listdir('/proc/self/fd')))")
    assert child.wait(LIMIT_MS) == 0
    assert child.log_text() == "[0, 1, 2, 3]\n", "3 is that of the folder which is listed"


def test_signal_handlers_equal_those_of_new_interpreter(started: Starter) -> None:
    code = (
        "import signal\n"
        "for name in ('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE', 'SIGCHLD'):\n"
        "    print(name, signal.getsignal(getattr(signal, name)))\n"
    )
    child = started(code)
    assert child.wait(LIMIT_MS) == 0
    file = str(started.folder / "command.py")
    executed = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, check=True, start_new_session=True,
        preexec_fn=_default_signals,
    )  # fmt: skip
    assert _without_addresses(child.log_text()) == _without_addresses(executed.stdout)


def _default_signals() -> None:
    """A shell that starts this test by nohup, or in the background, ignores some of them."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_DFL)


def _without_addresses(text: str) -> list[str]:
    return [line.partition(" at 0x")[0] for line in text.splitlines()]


def test_kill_ends_command_and_warden(started: Starter) -> None:
    child = started(SLEEPS)
    processes = [psutil.Process(child.pid), psutil.Process(child.warden_pid)]
    child.kill()
    assert not psutil.wait_procs(processes, timeout=HANGS_AFTER_S)[1]
    assert child.exit_code() == 128 + signal.SIGKILL
    child.kill()


def test_terminate_lets_command_handle_sigterm(started: Starter) -> None:
    child = started("import signal, sys\nsignal.signal(15, lambda *_: sys.exit(9))\n" + SLEEPS)
    await_that(lambda: "up" in child.log_text(), "it does not start")
    assert child.terminate(LIMIT_MS) == 9


def test_killed_warden_ends_its_command(started: Starter) -> None:
    child = started(SLEEPS)
    command = psutil.Process(child.pid)
    os.kill(child.warden_pid, signal.SIGKILL)
    assert not psutil.wait_procs([command], timeout=HANGS_AFTER_S)[1]
    assert child.wait(LIMIT_MS) is not None


def test_killed_caller_leaves_no_process(tmp_path: Path) -> None:
    code = (
        "import os, sys, time\nfrom pathlib import Path\n"
        "from harness.targets.forking import ForkedProcess, ForkServer\n"
        f"words = [sys.executable, '-m', 'http.server', '0', '--bind', '127.0.0.1']\n"
        f"child = ForkedProcess(ForkServer(), words, Path({str(tmp_path / 'a.log')!r}))\n"
        "print('up', flush=True)\ntime.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "up\n"
        family = psutil.Process(caller.pid).children(recursive=True)
        assert len(family) == 3
        caller.kill()
    assert not psutil.wait_procs(family, timeout=HANGS_AFTER_S)[1]


def test_killed_fork_server_ends_commands_and_refuses_next_start(
    tmp_path: Path,
) -> None:
    server = ForkServer()
    started = Starter(server, tmp_path)
    command = psutil.Process(started(SLEEPS).pid)
    warden = psutil.Process(command.ppid())
    psutil.Process(warden.ppid()).kill()
    assert not psutil.wait_procs([command], timeout=HANGS_AFTER_S)[1]
    assert started.children[0].wait(LIMIT_MS) is not None
    with pytest.raises(TargetStartError, match="the fork server has ended: it printed nothing"):
        started(SLEEPS)
    server.close()


def test_closed_fork_server_ends_its_commands(tmp_path: Path) -> None:
    server = ForkServer()
    started = Starter(server, tmp_path)
    command = psutil.Process(started(SLEEPS).pid)
    server.close()
    assert not psutil.wait_procs([command], timeout=HANGS_AFTER_S)[1]
    assert started.children[0].wait(LIMIT_MS) == 128 + signal.SIGKILL


def test_held_folder_is_removed_after_end_of_command(started: Starter) -> None:
    folder = ScratchFolder()
    child = started(SLEEPS, hold_fd=folder.hold_fd)
    assert psutil.Process(child.warden_pid).num_fds() > 0
    child.kill()
    folder.remove()
    assert not folder.path.exists()


def test_missing_module_ends_with_status_1_and_message(started: Starter) -> None:
    words = [sys.executable, "-m", "no_such_module"]
    log = started.folder / "b.log"
    child = ForkedProcess(started.server, words, log, environment=dict(os.environ))
    assert child.wait(LIMIT_MS) == 1
    assert "No module named no_such_module" in child.log_text()


def test_missing_folder_raises_target_start_error(started: Starter) -> None:
    with pytest.raises(TargetStartError, match="No such file or directory"):
        started("pass", directory=started.folder / "not there")


def test_forked_words_accepts_only_python_modules() -> None:
    assert forked_words([sys.executable, "-P", "-m", "a", "b"]) == ["-P", "-m", "a", "b"]
    assert forked_words([sys.executable, "-m", "a"]) == ["-m", "a"]
    assert forked_words([sys.executable, "-m"]) is None
    assert forked_words([sys.executable, "-c", "pass"]) is None
    assert forked_words(["java", "-m", "a"]) is None


def test_interpreter_environment_variable_prevents_fork(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "platform"]
    plain = {**os.environ, "PYTHONUNBUFFERED": "1"}
    forked = start_process(words, tmp_path / "a.log", environment=plain)
    executed = start_process(
        words, tmp_path / "b.log", environment={**plain, "PYTHONHASHSEED": "7"}
    )
    assert isinstance(forked, ForkedProcess)
    assert not isinstance(executed, ForkedProcess)
    assert forked.wait(LIMIT_MS) == executed.wait(LIMIT_MS) == 0
    assert forked.log_text() == executed.log_text()


@pytest.mark.rotates(8)
def test_ended_fork_server_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "_SERVERS", {})
    words = [sys.executable, "-m", "platform"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    before = psutil.Process().children()
    for name in ("a.log", "b.log"):
        child = start_process(words, tmp_path / name, environment=environment)
        assert child.wait(LIMIT_MS) == 0
        (server,) = [each for each in psutil.Process().children() if each not in before]
        server.kill()
        assert not psutil.wait_procs([server], timeout=HANGS_AFTER_S)[1]
