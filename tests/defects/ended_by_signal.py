"""A signal that ends the program ends it in good order: what is open is closed first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndedBySignal(KeyboardInterrupt):
    """Raised where the program was; pytest treats it as Ctrl-C. ``code``: its exit code."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.code = 128 + number


@contextmanager
def signals_raise() -> Iterator[None]:
    """The first such signal raises EndedBySignal; further ones do not disturb the closing."""

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
