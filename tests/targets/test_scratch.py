"""Data folders: removed with their owner and after every process that writes there, or kept."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.targets import scratch
from harness.targets.process import ChildProcess
from harness.targets.scratch import ScratchFolder
from labs.awaiting import await_that
from labs.hang_limit import HANGS_AFTER_S
from tests.targets.kinds import ROOT

WRITES = """
import os, sys
number = 0
while True:
    number += 1
    os.makedirs(os.path.join(sys.argv[1], str(number % 50)), exist_ok=True)
    if number == 1:
        print("writes", flush=True)
"""


def test_scratch_folder_outlives_processes_until_removed(tmp_path: Path) -> None:
    folder = ScratchFolder()
    words = [sys.executable, "-c", WRITES, str(folder.path)]
    for _ in range(2):
        child = ChildProcess(words, tmp_path / "a.log", hold_fd=folder.hold_fd)
        await_that(child.log_text, "it does not write")
        child.kill()
        assert any(folder.path.iterdir())
    folder.remove()
    assert not folder.path.exists()
    folder.remove()


def test_command_inherits_no_descriptor_of_scratch_folder(tmp_path: Path) -> None:
    """A process that has escaped from its warden must not keep the folder for ever."""
    folder = ScratchFolder()
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
    child = ChildProcess([sys.executable, "-c", code], tmp_path / "a.log", hold_fd=folder.hold_fd)
    child.wait(HANGS_AFTER_S * 1000)
    assert child.log_text().strip() in ("[0, 1, 2, 3]", "[0, 1, 2]"), "3 is the listing itself"
    folder.remove()


@pytest.mark.rotates(8)
@pytest.mark.parametrize("kept", [False, True])
def test_scratch_folder_of_killed_owner_is_removed_unless_kept(tmp_path: Path, kept: bool) -> None:
    """Two processes write into it all the time; it is removed when both are gone, and for good."""
    code = f"""
import signal, sys
from pathlib import Path
from harness.targets.process import ChildProcess
from harness.targets.scratch import ScratchFolder
folder = ScratchFolder(Path({str(tmp_path / "kept")!r}) if {kept} else None)
for name in "ab":
    ChildProcess([sys.executable, "-c", {WRITES!r}, str(folder.path)],
                 Path({str(tmp_path)!r}) / f"{{name}}.log", hold_fd=folder.hold_fd)
print(folder.path, flush=True)
signal.pause()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as owner:
        assert owner.stdout is not None
        path = Path(owner.stdout.readline().strip())
        logs = [tmp_path / "a.log", tmp_path / "b.log"]
        await_that(lambda: all(log.read_text() for log in logs), "they do not write")
        members = psutil.Process(owner.pid).children(recursive=True)
        assert len(members) == (4 if kept else 5), "two wardens, two processes, the keeper"
        os.kill(owner.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(members, timeout=HANGS_AFTER_S)
    assert not alive
    assert path.exists() is kept
    assert (path.parent == tmp_path / "kept") is kept


def test_remove_succeeds_while_process_holds_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "REMOVE_TIMEOUT_S", 0.2)
    folder = ScratchFolder()
    child = ChildProcess(["sleep", "600"], tmp_path / "a.log", hold_fd=folder.hold_fd)
    try:
        folder.remove()
        assert not folder.path.exists()
    finally:
        child.kill()
