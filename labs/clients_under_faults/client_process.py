"""A client's process from outside: orders in, history out, killed when it hangs."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from harness.histories.history import ClientOperation
from labs.clients_under_faults.job import Job
from labs.clients_under_faults.notes import GO, READY

START_S = 120.0
DUMP_S = 1.0
LOOK_S = 0.5
MOST_LIMITS = 10
END_S = 10.0
LAST_BYTES = 4000
MODULE = "labs.clients_under_faults.one_client"


class ClientProcessFailed(RuntimeError):
    """The process did not start; the text contains its last output."""


class ClientProcess:
    """``take`` is called with each operation, in a thread that reads while the block runs."""

    def __init__(
        self, client: str, job: Job, log: Path, take: Callable[[ClientOperation], None]
    ) -> None:
        self._command = [sys.executable, "-P", "-m", MODULE, client, job.to_json()]
        self._log, self._take = log, take
        self._ready = threading.Event()
        self._is_ready = False
        self.problem: Exception | None = None

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._reader = threading.Thread(target=self._read, name="history")
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # an order that no process was there to read
                if stream:
                    stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == READY:
                self._is_ready = True
                self._ready.set()
                continue
            try:
                self._take(ClientOperation.from_json(line))
            except Exception as problem:  # of another thread: the caller raises it
                self.problem = self.problem or problem
        self._ready.set()  # or dead

    def go(self) -> None:
        """Start the job. Raises ClientFailed if the process did not start."""
        self._ready.wait(START_S)
        if not self._is_ready:
            raise ClientProcessFailed(f"the client did not start: {self.last_words()}")
        self.order(GO)

    def order(self, word: str) -> None:
        """Send an order; the process may already have ended."""
        assert self._process.stdin is not None
        try:
            print(word, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            return

    def wait(self, limit_s: float, progress: Callable[[], int]) -> int | None:
        """Return its exit status, None when it hangs; then its threads are dumped, and it is
        killed.

        It hangs when ``progress`` does not change for ``limit_s``, and when it runs for more than
        ``MOST_LIMITS`` times as long: slow progress on a slow machine is no hang.
        """
        began_s = since_s = time.monotonic()
        before = progress()
        while time.monotonic() < min(since_s + limit_s, began_s + limit_s * MOST_LIMITS):
            try:
                return self._process.wait(min(limit_s, LOOK_S))
            except subprocess.TimeoutExpired:
                if progress() != before:
                    before, since_s = progress(), time.monotonic()
        return self._kill()

    def _kill(self) -> int | None:
        self._process.send_signal(signal.SIGUSR1)
        try:
            self._process.wait(DUMP_S)  # its threads' places go to its log meanwhile
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.wait(END_S)
        return None

    def last_words(self) -> str:
        """Return the end of its standard error."""
        return self._log.read_bytes()[-LAST_BYTES:].decode("utf-8", "replace").strip()
