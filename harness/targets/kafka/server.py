"""A server of ours on a JVM (a Kafka node, ZooKeeper): its process, over several starts."""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.targets.class_archive import WRITE_TIMEOUT_MS
from harness.targets.errors import TargetError, TargetStartError
from harness.targets.kafka.jvm import Jvm
from harness.targets.process import ChildProcess, end_of_log
from harness.targets.start_again import StartAgain

STOP_TIMEOUT_MS = 60_000
ENDED_IN_ORDER = (0, 128 + signal.SIGTERM)
"""The exit statuses of a JVM that has done all that it does at its end."""
PORT_TAKEN = ("Address already in use", "java.net.BindException")
JVM_BROKEN = ("Error occurred during initialization of VM", "A fatal error has been detected")
GIVEN_UP = ("Fatal error during KafkaServer",)  # 0.8: ...KafkaServerStartable startup
STUCK = ("I wrote this conflicted ephemeral node",)
"""KAFKA-1387, before 0.9: it waits for its own registration to go, as its session ended at a bad
moment of its start. Nothing of ours is registered there when it begins."""
EXPIRED = ("KeeperErrorCode = Session expired", "KeeperErrorCode = NodeExists")
"""On a slow machine its session with ZooKeeper ended during the start, which fails then; its
registration may outlive that session, and is in the way of the next one."""
GIVEN_UP_LIMIT_MS = 3_000
LOOK_INTERVAL_S = 1.0


class PortTaken(StartAgain):
    """Another process took a chosen port between the choice and the bind."""


class ArchiveUnfit(StartAgain):
    """The JVM itself broke, with a class archive that is now discarded."""


class Stuck(StartAgain):
    """It waits for what never comes, by a bug of it that strikes by chance."""


class SessionExpired(StartAgain):
    """Its session with ZooKeeper ended before it had started."""


class JavaServer(ABC):
    """One process under a warden of its own, and its log. ``called``: its name in a sentence.

    ``folder`` is its own and outlives the process. ``expected_to_run`` is false before the first
    start and after an end of our making, so that any other end is known for what it is.
    """

    def __init__(self, called: str, jvm: Jvm, folder: Path, log_path: Path) -> None:
        self.called = called
        self.folder = folder
        self.log_path = log_path
        self.expected_to_run = False
        self.hold_fd: int | None = None
        """That of the scratch folder around ``folder``, see ChildProcess."""
        self._jvm = jvm
        self._child: ChildProcess | None = None
        self._leaves_archive: Path | None = None
        self._answered = False
        self._look_at = 0.0

    @abstractmethod
    def _command(self, archive_flags: Sequence[str]) -> list[str]:
        """Return the command; ``archive_flags`` are for the JVM that stays."""

    @property
    def pid(self) -> int | None:
        """Process id, and that of its process group; None when it was never started."""
        return self._child.pid if self._child else None

    def is_alive(self) -> bool:
        """True if the process runs; a paused process does."""
        return self._child is not None and self._child.is_alive()

    def launch(self, *, archive_in: Path | None = None) -> None:
        """Start the process without waiting for an answer: the caller waits and calls ``answered``.

        ``archive_in``: a folder that is removed with us. The process leaves a class archive there
        at an orderly end, unless there is one already. Raises TargetStartError: it cannot be
        executed.
        """
        archive = self._jvm.archive
        flags, self._leaves_archive = archive.read_flags(), None
        if archive_in is not None and not archive.is_usable():
            self._leaves_archive = archive_in / f"{self.folder.name}-{archive.path.name}"
            flags = archive.write_flags(self._leaves_archive)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._child = ChildProcess(
            self._command(flags),
            self.log_path,
            environment=self._jvm.environment,
            hold_fd=self.hold_fd,
        )
        self.expected_to_run = True

    def answered(self) -> None:
        """Note that it has started: from now on an end in good order is worth waiting for."""
        self._answered = True

    @property
    def has_answered(self) -> bool:
        """True if :meth:`answered` was called since its present start."""
        return self._answered

    def check_start(self) -> None:
        """Raise at once when waiting has become senseless.

        PortTaken, ArchiveUnfit, SessionExpired and Stuck for what failed by chance, else
        TargetStartError.
        """
        log = self._starting_log()
        if any(words in log for words in STUCK):
            raise Stuck(f"{self.called} waits for itself; its log is {self.log_path}")
        if self.is_alive() and not self._has_given_up(log):
            return
        if self._answered:
            raise TargetStartError(self.ended())
        log = self._child.log_text() if self._child else ""
        if any(words in log for words in PORT_TAKEN):
            raise PortTaken(f"a port was taken by another process; the log is {self.log_path}")
        if any(words in log for words in EXPIRED):
            raise SessionExpired(f"its ZooKeeper session ended; the log is {self.log_path}")
        if self._jvm.archive.is_usable() and any(words in log for words in JVM_BROKEN):
            self._jvm.archive.discard()
            raise ArchiveUnfit(f"the JVM broke; the log is {self.log_path}")
        raise TargetStartError(self.ended("ended before it answered"))

    def _starting_log(self) -> str:
        """Return its output, at most once a second until it has answered; else nothing."""
        now = time.monotonic()
        if self._child is None or self._answered or now < self._look_at:
            return ""
        self._look_at = now + LOOK_INTERVAL_S
        return self._child.log_text()

    def _has_given_up(self, log: str) -> bool:
        """True if its start failed; a process that then hangs, as in old releases, is killed."""
        if self._child is None or not any(words in log for words in GIVEN_UP):
            return False
        if self._child.wait(GIVEN_UP_LIMIT_MS) is None:
            self._child.kill()
        return True

    def ended(self, how: str = "ended") -> str:
        """A sentence about its end, with the end of its log."""
        assert self._child is not None
        return (
            f"{self.called} {how}, with status {self._child.exit_code()}; "
            f"its log {self.log_path} ends with\n{self._child.tail()}"
        )

    def log_text(self) -> str:
        """The end of what it has printed, over all its starts, at most 64 KiB."""
        return end_of_log(self.log_path)

    # -- ends ----------------------------------------------------------------------------------

    def kill(self) -> None:
        """SIGKILL to its process group; returns when it is gone. Twice is fine."""
        self._end(lambda child: child.kill())

    def stop(self) -> None:
        """SIGTERM, then wait for its own end. Raises TargetError when it does not end."""
        self.resume()
        self._end(self._terminate)

    def end_for_archive(self) -> None:
        """An end in good order, if a class archive comes of it; else nothing is done."""
        if self._leaves_archive is None or self._jvm.archive.is_usable():
            return
        if self._child is not None and self._answered and self.is_alive():
            self._keep_archive(self._child.terminate(WRITE_TIMEOUT_MS))

    def _terminate(self, child: ChildProcess) -> None:
        timeout_ms = STOP_TIMEOUT_MS + (WRITE_TIMEOUT_MS if self._leaves_archive else 0)
        status = child.terminate(timeout_ms)
        if status is None:
            raise TargetError(
                f"{self.called} did not end within {timeout_ms} ms after SIGTERM; "
                f"its log {self.log_path} ends with\n{child.tail()}"
            )
        self._keep_archive(status)

    def _keep_archive(self, status: int | None) -> None:
        place, self._leaves_archive = self._leaves_archive, None
        if place is None or not self._answered or status not in ENDED_IN_ORDER:
            return
        self._jvm.archive.keep(place)
        place.unlink(missing_ok=True)

    def _end(self, by: Callable[[ChildProcess], None]) -> None:
        self.expected_to_run = False
        try:
            if self._child is not None:
                by(self._child)
        finally:
            self._answered = False

    # -- freezing ------------------------------------------------------------------------------

    def pause(self) -> None:
        """SIGSTOP to its process group; no thread moves any more when this returns.

        Raises TargetError when it does not run.
        """
        if self._child is None or not self._child.is_alive():
            raise TargetError(f"{self.called} cannot be paused: it does not run")
        self._child.pause()

    def resume(self) -> None:
        """SIGCONT to its process group; nothing happens to one that is not paused."""
        if self._child is not None:
            self._child.resume()


def await_condition(
    holds: Callable[[], bool], deadline_ms: int, check: Callable[[], None], otherwise: str
) -> None:
    """Ask until it holds; ``check`` is as in :meth:`JavaServer.check_start`.

    Raises TargetStartError with ``otherwise`` at the deadline.
    """
    end = time.monotonic() + deadline_ms / 1000
    while not holds():
        check()
        if time.monotonic() > end:
            raise TargetStartError(f"{otherwise} within {deadline_ms} ms")
        time.sleep(0.02)
