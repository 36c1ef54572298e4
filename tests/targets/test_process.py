"""Child processes as the targets use them."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest

from harness.targets.errors import TargetError, TargetStartError
from harness.targets.process import ChildProcess, reserve_log
from labs.awaiting import await_that
from labs.hang_limit import HANGS_AFTER_S
from tests.targets.kinds import ROOT


def python(code: str, log: Path, **options: object) -> ChildProcess:
    return ChildProcess([sys.executable, "-c", code], log, **options)  # type: ignore[arg-type]


def test_child_output_and_exit_status_are_available(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    child = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)", log)
    assert child.wait(HANGS_AFTER_S * 1000) == 4
    assert sorted(child.log_text().split()) == ["err", "out"]
    assert not child.is_alive()
    child.kill()
    assert child.exit_code() == 4


def test_log_of_earlier_child_is_kept_but_not_returned(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("earlier\n")
    child = python("print('later')", log)
    child.wait(HANGS_AFTER_S * 1000)
    assert log.read_text() == "earlier\nlater\n"
    assert child.log_text() == "later\n"


def test_tail_returns_last_lines(tmp_path: Path) -> None:
    child = python("for i in range(50): print('line', i)", tmp_path / "a.log")
    child.wait(HANGS_AFTER_S * 1000)
    assert child.tail(2) == "    line 48\n    line 49"


def test_kill_ends_child_and_warden_and_is_repeatable(tmp_path: Path) -> None:
    child = python("import time; time.sleep(600)", tmp_path / "a.log")
    processes = [psutil.Process(child.pid), psutil.Process(child.warden_pid)]
    assert child.is_alive()
    child.kill()
    assert not [each for each in processes if each.is_running()]
    assert child.exit_code() == 128 + signal.SIGKILL
    child.kill()


def test_kill_ends_child_of_hanging_warden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.targets.process.END_TIMEOUT_MS", 300)
    child = python("import time; time.sleep(600)", tmp_path / "a.log")
    itself = psutil.Process(child.pid)
    os.kill(child.warden_pid, signal.SIGSTOP)
    child.kill()
    assert not psutil.wait_procs([itself], timeout=HANGS_AFTER_S)[1]


def test_terminate_lets_child_handle_sigterm(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    child = python(code, tmp_path / "a.log")
    await_that(lambda: "up" in child.log_text(), "it does not start")
    assert child.terminate(15_000) == 9


def is_frozen(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_STOPPED


def test_pause_stops_whole_process_group(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "print(subprocess.Popen(['sleep', '600']).pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    child = python(code, tmp_path / "a.log")
    await_that(child.log_text, "it does not start")
    group = [child.pid, int(child.log_text())]
    child.pause()
    child.pause()
    assert all(map(is_frozen, group)), "at once"
    assert child.is_alive()
    child.resume()
    child.resume()
    await_that(lambda: not any(map(is_frozen, group)), "not all go on")
    child.pause()
    child.kill()
    assert child.exit_code() == 128 + signal.SIGKILL
    await_that(lambda: not any(map(psutil.pid_exists, group)), "a frozen one is left")


def _grows(file: Path, beyond: int) -> bool:
    return file.stat().st_size > beyond


def test_no_thread_runs_during_pause(tmp_path: Path) -> None:
    """A file that many threads write to does not grow once the pause has begun."""
    log = tmp_path / "counted"
    code = (
        "import sys, threading\n"
        "def count():\n"
        "    with open(sys.argv[1], 'ab', buffering=0) as file:\n"
        "        while True: file.write(b'x')\n"
        "for _ in range(8): threading.Thread(target=count).start()\n"
    )
    child = ChildProcess([sys.executable, "-c", code, str(log)], tmp_path / "a.log")
    try:
        await_that(lambda: log.exists() and log.stat().st_size, "it does not write")
        for _ in range(20):
            child.pause()
            before = log.stat().st_size
            for _ in range(50):
                assert log.stat().st_size == before
            child.resume()
            await_that(partial(_grows, log, before), "it does not go on")
    finally:
        child.kill()


def test_terminate_of_paused_child_lets_it_handle_sigterm(tmp_path: Path) -> None:
    code = "import signal, sys\nsignal.signal(15, lambda *_: sys.exit(9))\nprint(1, flush=True)\n"
    child = python(code + "signal.pause()", tmp_path / "a.log")
    await_that(child.log_text, "it does not start")
    child.pause()
    assert child.terminate(15_000) == 9
    child.resume()
    with pytest.raises(TargetError, match="has ended"):
        child.pause()


def test_missing_command_raises_target_start_error(tmp_path: Path) -> None:
    with pytest.raises(TargetStartError, match=r"cannot start '/nowhere'.*No such file"):
        ChildProcess(["/nowhere"], tmp_path / "a.log")


def test_folder_named_harness_does_not_shadow_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("raise SystemExit(99)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = ChildProcess(["/bin/sh", "-c", "exit 5"], tmp_path / "a.log")
    assert child.wait(HANGS_AFTER_S * 1000) == 5


def test_sigint_of_process_group_reaches_only_parent(tmp_path: Path) -> None:
    """SIGINT to the whole group of the parent, as a terminal sends it: the parent stops first."""
    code = (
        "import signal, sys, time\n"
        "from pathlib import Path\n"
        "from harness.targets.process import ChildProcess\n"
        # a job in the background of a shell is born with SIGINT ignored
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "child = ChildProcess(['sleep', '600'], Path(sys.argv[1]))\n"
        "try:\n"
        "    print(child.pid, flush=True)\n"
        "    time.sleep(600)\n"
        "except KeyboardInterrupt:\n"
        "    print('alive' if child.is_alive() else 'dead', flush=True)\n"
        "    child.kill()\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "a.log")]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stdout.readline().strip() == "alive"
        assert parent.wait(HANGS_AFTER_S) == 0
    assert not child.is_running()


def test_reserve_log_returns_distinct_paths(tmp_path: Path) -> None:
    paths = [reserve_log(tmp_path / "new", "kafka") for _ in range(3)]
    assert [path.name for path in paths] == ["kafka.log", "kafka-2.log", "kafka-3.log"]
    assert all(path.exists() for path in paths)
