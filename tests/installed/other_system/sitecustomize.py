"""Python on a system without the parts of Unix that Windows lacks: they are gone from its modules.

Read by each Python that has this folder on PYTHONPATH. The standard library and psutil keep their
own way to them, as they have another one on Windows. Locks are those of Windows, made of those of
this system, and asyncio's loops handle no signals.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile  # noqa: F401 - it reads flags of `os` when it is imported
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

import absent_names  # type: ignore[import-not-found]  # beside this file
import psutil  # noqa: F401 - on this system it imports `resource`

_KILL = signal.SIGKILL


class Gone:
    """The finder of modules that this system does not have."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: object = None) -> None:
        """Raise ModuleNotFoundError for these modules."""
        del path, target
        if name in absent_names.MODULES:
            raise ModuleNotFoundError(f"this system has no {name}", name=name)


def _locking(descriptor: int, mode: int, size_bytes: int) -> None:
    waits = mode == Locks.LK_LOCK
    how = fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB)
    fcntl.lockf(descriptor, how, size_bytes, os.lseek(descriptor, 0, os.SEEK_CUR))


def _no_handler(*_: Any) -> NoReturn:
    raise NotImplementedError


class Locks(ModuleType):
    """``msvcrt`` of Windows, as far as locks go."""

    LK_LOCK, LK_NBLCK = 1, 2
    locking = staticmethod(_locking)


def _kill(process: Any) -> None:
    process.send_signal(_KILL)


subprocess.Popen.kill = _kill  # type: ignore[method-assign, assignment]
socket.socketpair = partial(socket.socketpair, socket.AF_UNIX)
asyncio.SelectorEventLoop.add_signal_handler = _no_handler  # type: ignore[method-assign, assignment]
sys.meta_path.insert(0, Gone)
sys.modules["msvcrt"] = Locks("msvcrt")
for module in absent_names.MODULES:
    sys.modules.pop(module, None)
for module, names in absent_names.NAMES.items():
    for name in names:
        delattr(sys.modules[module], name)
