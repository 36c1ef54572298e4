"""The process of a client, with limits: of time, of the length of a line, and of its log.

A driver reads a call, a line of JSON, and writes its answer, one line of JSON. Nothing else may
stand on its standard output. Its standard error is its log. The end of its input ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Self

from harness.clients.calls import Calls, ClientFailed, ClientGone, DriverBroken
from harness.clients.vocabulary import ClientLacks, Json

ANSWER_S: Final = 120.0
END_S: Final = 20.0
LINE_BYTES: Final = 16 << 20
LOG_BYTES: Final = 8 << 20
"""Text that a driver writes to its log behind these bytes is read, and its end alone is kept."""
LAST_BYTES: Final = 2000
CHUNK_BYTES: Final = 1 << 16
SHOWN_CHARS: Final = 200


class ClientSession(Calls):
    """A process that reads calls and writes answers; ``answer_s``: its time for one.

    ``directory``: where the command runs, by default ours. ``is_gone``: the process has ended, or
    was killed, because it broke a limit or the protocol.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
        *,
        answer_s: float = ANSWER_S,
        directory: Path | None = None,
    ) -> None:
        self._command, self._log, self._answer_s = command, log, answer_s
        self._directory, self.is_gone = directory, False
        self._environment = {**os.environ, **(environment or {})}
        self._unread = bytearray()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=self._directory,
            start_new_session=True,  # what it starts itself ends with it
        )
        assert self._process.stderr is not None
        self._kept = KeptLog(self._process.stderr, self._log)
        self._stdin, self._stdout = _pipe(self._process.stdin), _pipe(self._process.stdout)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()  # the end of its input ends it
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        self._kill()
        self._stdout.close()

    def _kill(self) -> None:
        self.is_gone = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._kept.finish()

    def call(self, name: str, **arguments: Any) -> Any:
        until_s = time.monotonic() + self._answer_s
        self._require_silence(name)
        self._write(name, json.dumps({"call": name, **arguments}).encode() + b"\n", until_s)
        said = self._parsed(name, self._line(name, until_s))
        if "answer" in said:
            return said["answer"]
        if "lacks" in said:
            raise ClientLacks(f"{name}: {said['lacks']}")
        raise ClientFailed(f"{name}: {said['error']}\n{self._kept.end()}")

    def _require_silence(self, name: str) -> None:
        """Text that the driver has written since its last answer belongs to no call."""
        if not self._unread and _ready(self._stdout, selectors.EVENT_READ, 0):
            self._unread += os.read(self._stdout.fileno(), CHUNK_BYTES)
        if self._unread:
            raise self._broken(f"before {name} it wrote, without a call: {_shown(self._unread)}")

    def _write(self, name: str, line: bytes, until_s: float) -> None:
        left = memoryview(line)
        while left:
            if not _ready(self._stdin, selectors.EVENT_WRITE, until_s - time.monotonic()):
                raise self._too_late(name)
            try:
                left = left[os.write(self._stdin.fileno(), left) :]
            except BrokenPipeError:
                raise self._ended(name) from None

    def _line(self, name: str, until_s: float) -> bytes:
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if searched > LINE_BYTES:
                raise self._broken(
                    f"{name}: its answer has more than {LINE_BYTES} bytes without an end of the "
                    f"line: {_shown(self._unread)}"
                )
            if not _ready(self._stdout, selectors.EVENT_READ, until_s - time.monotonic()):
                raise self._too_late(name)
            if not (chunk := os.read(self._stdout.fileno(), CHUNK_BYTES)):
                raise self._ended(name)
            self._unread += chunk
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _parsed(self, name: str, line: bytes) -> Json:
        try:
            said = json.loads(line)
        except ValueError:
            raise self._broken(f"{name}: its answer is no JSON: {_shown(line)}") from None
        kinds = said.keys() & {"answer", "error", "lacks"} if isinstance(said, dict) else ()
        if len(kinds) != 1:
            raise self._broken(
                f"{name}: its answer is no object with one of answer, error, lacks: {_shown(line)}"
            )
        found: Json = said
        return found

    def _too_late(self, name: str) -> ClientGone:
        self._kill()
        return ClientGone(f"{name}: no answer in {self._answer_s:g} s\n{self._kept.end()}")

    def _ended(self, name: str) -> ClientGone:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # its output is closed: it ends, or is killed
        self._kill()
        how = _status(self._process.returncode)
        return ClientGone(f"{name}: the process of the client ended {how}\n{self._kept.end()}")

    def _broken(self, what: str) -> DriverBroken:
        self._kill()
        return DriverBroken(f"{what}\n{self._kept.end()}")


class KeptLog:
    """The log of a driver, written by a thread: a driver that babbles waits for nothing."""

    def __init__(self, source: IO[bytes], file: Path) -> None:
        self._source, self._file = source, file
        self._last = b""
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        left = LOG_BYTES
        with self._file.open("wb", buffering=0) as file, self._source as source:
            while chunk := os.read(source.fileno(), CHUNK_BYTES):
                file.write(chunk[:left])
                left = max(0, left - len(chunk))
                self._last = (self._last + chunk)[-LAST_BYTES:]

    def finish(self) -> None:
        """Wait until all of an ended process is read."""
        self._thread.join(END_S)

    def end(self) -> str:
        """The last text that the driver has written to it."""
        return self._last.decode("utf-8", "replace")


def _pipe(file: IO[bytes] | None) -> IO[bytes]:
    assert file is not None
    os.set_blocking(file.fileno(), False)
    return file


def _ready(file: IO[bytes], event: int, within_s: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(file, event)
        return bool(selector.select(max(0.0, within_s)))


def _shown(data: bytes | bytearray) -> str:
    return repr(bytes(data[:SHOWN_CHARS]))[1:]


def _status(code: int) -> str:
    return f"by signal {-code}" if code < 0 else f"with status {code}"
