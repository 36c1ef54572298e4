"""Starts of Python commands through a process that has imported the built-in broker.

One such server (:mod:`harness.targets.fork_server`) serves each process that starts brokers, from
its first start to its end. Only on Linux; elsewhere, and for commands of another kind, a command is
executed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from harness.targets.errors import TargetStartError
from harness.targets.fork_server import ANSWER, LENGTH
from harness.targets.process import ChildProcess, Warden

_READ_AT_A_START = ("LD_", "PYTHON")
"""Variables of these names act on the start of an interpreter, so a fork would come too late."""
_KILLED = -signal.SIGKILL
_SERVERS: dict[int, ForkServer] = {}
_STARTING = threading.Lock()


class ForkedWarden:
    """The warden of a forked command; the caller is not its parent, and receives its exit status.

    ``stdin`` is a pipe: when the caller closes it, the warden ends.
    """

    def __init__(self, pid: int, stdin: int, status: int) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb", 0)
        self._status = os.fdopen(status, "rb", 0)
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status; ``timeout`` in seconds. Raises subprocess.TimeoutExpired."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"warden {self.pid}", timeout or 0)
        return code

    def kill(self) -> None:
        """SIGKILL, unless it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _ended(self, timeout_s: float | None) -> int | None:
        if self._code is None and select.select([self._status], [], [], timeout_s)[0]:
            said = self._status.read()
            self._status.close()
            self._code = int(said) if said else _KILLED
        return self._code


class ForkServer:
    """The caller's end of one server."""

    def __init__(self) -> None:
        """Start it. Raises OSError when Python cannot be executed."""
        self.environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self._lock = threading.Lock()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the server
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "harness.targets.fork_server", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                env=self.environment,
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def runs(self) -> bool:
        """True if the server can take requests."""
        return self._process.poll() is None

    def ask(self, request: Mapping[str, object], descriptors: Sequence[int]) -> int:
        """The pid of the warden that it has forked. Raises TargetStartError."""
        body = json.dumps(request).encode()
        try:
            with self._lock:
                socket.send_fds(self._socket, [LENGTH.pack(len(body))], descriptors)
                self._socket.sendall(body)
                answer = self._socket.recv(ANSWER.size, socket.MSG_WAITALL)
        except OSError as problem:
            raise TargetStartError(f"the fork server has ended: {self._last_words()}") from problem
        if len(answer) < ANSWER.size:
            raise TargetStartError(f"the fork server has ended: {self._last_words()}")
        pid = int(ANSWER.unpack(answer)[0])
        if pid < 0:
            raise TargetStartError(f"the fork server cannot fork: {os.strerror(-pid)}")
        return pid

    def close(self) -> None:
        """End it; commands of its that still run are killed."""
        self._socket.close()
        self._process.wait()
        self._said.close()

    def _last_words(self) -> str:
        self._said.seek(0)
        return self._said.read().decode(errors="replace").strip() or "it printed nothing"


class ForkedProcess(ChildProcess):
    """A command that is forked, with its warden."""

    def __init__(self, server: ForkServer, command: Sequence[str], log: Path, **options: Any):
        """``options`` as of ChildProcess. Raises TargetStartError."""
        self._server = server
        super().__init__(command, log, **options)

    def _start_warden(
        self,
        report_fd: int,
        options: Sequence[str],
        held: tuple[int, ...],
        environment: Mapping[str, str] | None,
        directory: Path | None,
    ) -> Warden:
        assert "--remove" not in options, "a folder is removed by a warden that is executed"
        words = forked_words(self.command)
        request = {
            "words": words,
            "environment": dict(os.environ if environment is None else environment),
            "directory": str(directory or Path.cwd()),
        }
        stdin_r, stdin_w = os.pipe()
        status_r, status_w = os.pipe()
        try:
            with self.log_path.open("ab") as log:
                shared = [stdin_r, log.fileno(), report_fd, status_w, *held]
                pid = self._server.ask(request, shared)
        except BaseException:
            os.close(stdin_w)
            os.close(status_r)
            raise
        finally:
            os.close(stdin_r)
            os.close(status_w)
        return ForkedWarden(pid, stdin_w, status_r)


def server_for(command: Sequence[str], environment: Mapping[str, str]) -> ForkServer | None:
    """Return the server that can fork the command, started if need be; None: execute it."""
    if sys.platform != "linux" or forked_words(command) is None:
        return None
    server = _server_of_this_process()
    return server if _at_a_start(environment) == _at_a_start(server.environment) else None


def _server_of_this_process() -> ForkServer:
    with _STARTING:
        server = _SERVERS.get(os.getpid())
        if server is not None and not server.runs():
            server.close()
            server = None
        if server is None:
            server = _SERVERS[os.getpid()] = ForkServer()
            atexit.register(server.close)
    return server


def forked_words(command: Sequence[str]) -> list[str] | None:
    """Return the words after ``python`` in ``python [-P] -m MODULE ...``; None: another command."""
    python, *words = command
    behind = words[1:] if words[:1] == ["-P"] else words
    return words if python == sys.executable and behind[:1] == ["-m"] and behind[1:] else None


def _at_a_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if k.startswith(_READ_AT_A_START)}
