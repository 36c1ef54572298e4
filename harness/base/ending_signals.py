"""The end of a command that serves: SIGINT (Ctrl-C) and SIGTERM, which Windows has from no other.

The handlers of asyncio are used where there are any. On Windows Python's own do the same, and a
socket wakes the loop: Python calls them only while it runs.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_signal(serving: Coroutine[Any, Any, None]) -> None:
    """Run it in a new loop that watches sockets, until it ends or such a signal cancels it."""
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(_until_signal(serving))


async def _until_signal(serving: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(serving)
    at_ending_signals(task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        if not task.cancelled():
            raise


def at_ending_signals(call: Callable[[], object]) -> None:
    """Let the running loop call this at each of the signals, and do nothing else then."""
    loop = asyncio.get_running_loop()
    try:
        for number in ENDING_SIGNALS:
            loop.add_signal_handler(number, call)
    except NotImplementedError:
        _wake_by_socket(loop)
        for number in ENDING_SIGNALS:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))


def _wake_by_socket(loop: asyncio.AbstractEventLoop) -> None:
    """Both ends stay open as long as the loop has its reader."""
    ours, waking = socket.socketpair()
    for end in (ours, waking):
        end.setblocking(False)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    loop.add_reader(ours, _drain, ours, waking)


def _drain(ours: socket.socket, _: socket.socket) -> None:
    with suppress(BlockingIOError):
        ours.recv(4096)
