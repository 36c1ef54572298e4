"""Processes that are frozen and thawed again, a whole group at a time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from harness.base.operating_system import HAS_FORK

FREEZE_TIMEOUT_S = 10.0
PAUSE_S = 0.001


def freeze(group: int) -> bool:
    """SIGSTOP to a process group; returns when every thread of it stands still.

    A thread goes on for a moment after the signal was sent, long enough to answer a request.
    False: there is no such group, or the system has no groups. Raises TimeoutError: a process in
    the kernel's hands does not stop.
    """
    if not HAS_FORK or not _signal(group, signal.SIGSTOP):
        return False
    deadline = time.monotonic() + FREEZE_TIMEOUT_S
    for pid in _members(group):
        while not _stands_still(pid):
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {pid} does not stop within {FREEZE_TIMEOUT_S} s")
            time.sleep(PAUSE_S)
    return True


def thaw(group: int) -> bool:
    """SIGCONT to a process group. False: there is no such group."""
    return HAS_FORK and _signal(group, signal.SIGCONT)


def _signal(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # all gone; macOS says EPERM for zombies
        return False
    return True


def _members(group: int) -> list[int]:
    """The leader and what it has started in its group."""
    import psutil

    try:
        below = psutil.Process(group).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [group, *(process.pid for process in below if _group_of(process.pid) == group)]


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _stands_still(pid: int) -> bool:
    """True if no thread of the process runs; True also if it has ended."""
    try:
        states = [file.read_bytes() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:  # a thread has ended meanwhile
        return False
    if states:  # the state stands behind the name, which is in parentheses and may hold others
        return all(text[text.rindex(b")") + 2 :][:1] in b"TtZX" for text in states)
    import psutil

    try:
        return psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
