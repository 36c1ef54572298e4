"""Child processes behind a warden: started, watched, and ended for sure, with a log that stays.

The warden (:mod:`harness.targets.warden`) holds a pipe to this process. When we end, by
whatever cause, the pipe closes and the warden kills the child's whole process group. Warden and
child run in sessions of their own, so Ctrl-C in a terminal reaches only us, and we stop them in
our order. Where there is no fork the warden is another one, which keeps that as far as it can
(:mod:`harness.targets.warden_without_fork`).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from harness.base.operating_system import HAS_FORK
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.freezing import freeze, thaw

_WARDEN = Path(__file__).with_name("warden.py" if HAS_FORK else "warden_without_fork.py").resolve()
_GROUP_OF_ITS_OWN: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""Flag of Windows: Ctrl-C in a terminal does not reach it."""
END_TIMEOUT_MS = 30_000
REPORT_TIMEOUT_MS = 30_000
TAIL_LIMIT_BYTES = 64 * 1024


def warden_command() -> list[str]:
    """The beginning of a warden's command line.

    By its file and isolated: this warden runs, with any folder named "harness" in the working
    directory and any PYTHONPATH.
    """
    return [sys.executable, "-I", "-S", str(_WARDEN)]


class Warden(Protocol):
    """A warden's process as its parent sees it; the end of ``stdin`` ends it."""

    pid: int
    stdin: IO[bytes] | None

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status; ``timeout`` in seconds. Raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """SIGKILL."""


class ChildProcess:
    """One command under a warden.

    ``log_path`` gets stdout and stderr of the child, appended. ``remove`` names a folder that
    the warden deletes when the child is gone, even if we are gone too. ``directory`` is where
    the command runs, by default ours. ``hold_fd`` is a descriptor that the warden keeps open until
    the child is gone, see :class:`harness.targets.scratch.ScratchFolder`.
    """

    def __init__(
        self,
        command: Sequence[str],
        log_path: Path,
        *,
        environment: Mapping[str, str] | None = None,
        remove: Path | None = None,
        directory: Path | None = None,
        hold_fd: int | None = None,
    ) -> None:
        """Start the command. Raises TargetStartError when it cannot be executed."""
        self.command = [os.fspath(word) for word in command]
        self.log_path = log_path
        self._log_start = log_path.stat().st_size if log_path.exists() else 0
        options = [] if remove is None else ["--remove", os.fspath(remove)]
        if not HAS_FORK:
            self.pid = self._start_without_fork(options, environment, directory)
            return
        report_r, report_w = os.pipe()
        try:
            options += [] if hold_fd is None else ["--hold-fd", str(hold_fd)]
            held = () if hold_fd is None else (hold_fd,)
            self._warden = self._start_warden(report_w, options, held, environment, directory)
        finally:
            os.close(report_w)
        try:
            self.pid = self._read_report(report_r)
        except BaseException:
            self.kill()
            raise
        finally:
            os.close(report_r)

    def _start_warden(
        self,
        report_fd: int,
        options: Sequence[str],
        held: tuple[int, ...],
        environment: Mapping[str, str] | None,
        directory: Path | None,
    ) -> Warden:
        """``report_fd`` is for one line of the warden."""
        words = [*warden_command(), "--report-fd", str(report_fd), *options]
        with self.log_path.open("ab") as log:
            return subprocess.Popen(
                [*words, "--", *self.command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=None if environment is None else dict(environment),
                cwd=directory,
                pass_fds=(report_fd, *held),
                start_new_session=True,
            )

    def _start_without_fork(
        self,
        options: Sequence[str],
        environment: Mapping[str, str] | None,
        directory: Path | None,
    ) -> int:
        """The child's pid. That warden opens the log, and reports on its output."""
        words = [*warden_command(), *options, "--log", os.fspath(self.log_path.absolute())]
        warden = subprocess.Popen(
            [*words, "--", *self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=None if environment is None else dict(environment),
            cwd=directory,
            creationflags=_GROUP_OF_ITS_OWN,
        )
        self._warden = warden
        assert warden.stdout is not None
        with warden.stdout as report:
            line = report.readline()
        try:
            return self._reported(line)
        except BaseException:
            self.kill()
            raise

    def _read_report(self, report_fd: int) -> int:
        """Read the child's pid from the warden's report. Raises TargetStartError: no pid in it."""
        ready, _, _ = select.select([report_fd], [], [], REPORT_TIMEOUT_MS / 1000)
        return self._reported(os.read(report_fd, 4096) if ready else b"")

    def _reported(self, report: bytes) -> int:
        kind, _, rest = report.decode(errors="replace").strip().partition(" ")
        if kind == "pid":
            return int(rest)
        reason = rest or f"its warden gave no report within {REPORT_TIMEOUT_MS} ms"
        raise TargetStartError(
            f"cannot start {self.command[0]!r}: {reason}. The log is {self.log_path}"
        )

    @property
    def warden_pid(self) -> int:
        """Process id of the warden."""
        return self._warden.pid

    def exit_code(self) -> int | None:
        """Exit status of the child (128 + n after signal n), None while it runs."""
        return self._ended(self._warden.poll())

    def is_alive(self) -> bool:
        """True if the child still runs."""
        return self.exit_code() is None

    def wait(self, timeout_ms: int) -> int | None:
        """Wait for the child's own end; its exit status, or None at the deadline."""
        try:
            return self._ended(self._warden.wait(timeout_ms / 1000))
        except subprocess.TimeoutExpired:
            return None

    def pause(self) -> None:
        """Freeze the child and its process group; returns when nothing moves. Twice is fine.

        Raises TargetError when it has ended, or does not stop.
        """
        try:
            if self.is_alive() and freeze(self.pid):
                return
        except TimeoutError as problem:
            raise TargetError(f"{self.command[0]!r} cannot be paused: {problem}") from problem
        raise TargetError(f"{self.command[0]!r} cannot be paused: it has ended")

    def resume(self) -> None:
        """Thaw what :meth:`pause` froze; nothing happens to what runs or has ended."""
        if self.is_alive():
            thaw(self.pid)

    def terminate(self, timeout_ms: int) -> int | None:
        """Ask the child to end by SIGTERM, thawed if it is paused; on Windows that kills it.

        Its exit status, or None if it runs on.
        """
        self.resume()  # a paused one would not see the signal
        if self.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
        return self.wait(timeout_ms)

    def kill(self) -> None:
        """End the child and its process group now. Doing it twice is fine."""
        self._close_pipe()
        if self.wait(END_TIMEOUT_MS) is not None:
            return
        # The warden hangs (a stopped process, say): its parent-death signal ends the child.
        self._warden.kill()
        self._warden.wait()

    def _ended(self, exit_code: int | None) -> int | None:
        """Close the pipe to a warden that has ended."""
        if exit_code is not None:
            self._close_pipe()
        return exit_code

    def _close_pipe(self) -> None:
        if self._warden.stdin is not None:
            self._warden.stdin.close()

    def log_text(self) -> str:
        """Return the output of this child so far (its last 64 KiB)."""
        return end_of_log(self.log_path, self._log_start)

    def tail(self, lines: int = 20) -> str:
        """The last lines of the child's log, indented, ready for an error message."""
        last = self.log_text().splitlines()[-lines:]
        return "\n".join(f"    {line}" for line in last) or "    (the log is empty)"


def end_of_log(path: Path, begin: int = 0) -> str:
    """The last 64 KiB of a file, from byte ``begin`` on; empty when it is not there."""
    try:
        with path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(begin, end - TAIL_LIMIT_BYTES))
            return log.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def reserve_log(folder: Path, name: str) -> Path:
    """A new empty file ``NAME.log`` or ``NAME-2.log``, ... in ``folder``, made in one step.

    Several processes may share the folder. Raises OSError when it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        path = folder / (f"{name}.log" if number == 1 else f"{name}-{number}.log")
        try:
            path.open("xb").close()
        except FileExistsError:
            continue
        return path
    raise AssertionError("itertools.count ended")


class Deadline:
    """A point in time by the monotonic clock, some milliseconds from now."""

    def __init__(self, timeout_ms: float) -> None:
        self.timeout_ms = timeout_ms
        self._at = time.monotonic() + timeout_ms / 1000

    def left_ms(self) -> int:
        """Milliseconds left, 0 when it has passed."""
        return max(0, round((self._at - time.monotonic()) * 1000))
