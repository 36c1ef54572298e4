"""Signals that end the program in good order: open resources are closed first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndedBySignal(KeyboardInterrupt):
    """Raised in the interrupted code; pytest treats it as Ctrl-C. ``code``: the exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.code = 128 + number


@contextmanager
def signals_raise() -> Iterator[None]:
    """Let the first such signal raise EndedBySignal; further ones do not disturb the closing."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        del frame
        for each in ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise EndedBySignal(number)

    before = {each: signal.signal(each, end) for each in ENDING}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
