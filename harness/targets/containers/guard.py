"""A small process that writes a container's log and outlives us long enough to remove it.

``python -m harness.targets.containers.guard RUN LOG``

The daemon keeps a container running after the process that started it has ended, so the warden that
guards processes is of no use here. The guard writes ``ready`` to standard output, then reads
standard input; its parent holds the other end:

- a line ``follow`` follows each start of the run's container: the guard appends the container's
  output to LOG, and nothing twice;
- at the end of file, at another parent id (a forked sibling may hold the pipe) and at SIGTERM or
  SIGHUP every container with the label of RUN is removed, and the guard ends with status 0.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.targets.containers.daemon import asked, connect
from harness.targets.containers.ownership import containers_of, remove
from harness.targets.errors import TargetError

if TYPE_CHECKING:
    from docker.models.containers import Container

PARENT_CHECK_S = 1.0
LAST_WORDS_S = 10.0
READY = b"ready\n"
FOLLOW = b"follow\n"


class LogFollower:
    """Appends what the containers of a run print to a file."""

    def __init__(self, run: str, path: Path) -> None:
        self._run = run
        self._path = path
        self._written_bytes = 0
        self._thread: threading.Thread | None = None

    def follow(self) -> None:
        """Begin, or begin again after the container was started again."""
        self.join()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until the last words of an ended container are written."""
        if self._thread is not None:
            self._thread.join(LAST_WORDS_S)

    def _follow(self) -> None:
        try:
            with asked():
                client = connect()
                for container in containers_of(client, self._run):
                    self._copy(container)
        except TargetError as problem:
            sys.stderr.write(f"guard: the log ends here: {problem}\n")

    def _copy(self, container: Container) -> None:
        """Append new output of the container to the file.

        The daemon returns the output from the first start on; skip the part that is in the file.
        """
        passed_bytes = 0
        with self._path.open("ab") as log:
            for chunk in container.logs(stream=True, follow=True):
                new = chunk[max(0, self._written_bytes - passed_bytes) :]
                passed_bytes += len(chunk)
                log.write(new)
                log.flush()
                self._written_bytes += len(new)


class _Ended(Exception):
    """A signal asks the guard to end."""


def _end(*_: object) -> None:
    raise _Ended


def _requests(parent: int) -> Iterator[bytes]:
    """Lines from the parent until it is gone."""
    pending = b""
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], PARENT_CHECK_S)
        if not ready:
            continue
        data = os.read(0, 4096)
        if not data:
            return
        pending += data
        while (end := pending.find(b"\n") + 1) > 0:
            line, pending = pending[:end], pending[end:]
            yield line


def main(arguments: Sequence[str]) -> int:
    """Guard one run; see the module's text."""
    run, path = arguments
    parent = os.getppid()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    follower = LogFollower(run, Path(path))
    try:
        client = connect()
        with contextlib.suppress(BrokenPipeError):  # the parent is gone: that is next
            os.write(1, READY)
        for line in _requests(parent):
            if line == FOLLOW:
                follower.follow()
    except _Ended:
        pass
    except TargetError as problem:
        sys.stderr.write(f"guard: {problem}\n")
        return 1
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with asked("remove a container"):
        for container in containers_of(client, run):
            _kill(container)
            follower.join()
            remove(container)
    return 0


def _kill(container: Container) -> None:
    """End it without removing it, so that its last words can still be read."""
    from docker.errors import APIError

    try:
        if container.status == "paused":
            container.unpause()
        container.kill()
    except APIError:  # it has ended already
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
