"""SIGTERM ends a command as Ctrl-C does, so that all that it started ends before it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def orderly_end() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt in the main thread for the time of the block."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del frame
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
