"""Waits for another process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from labs.hang_limit import HANGS_AFTER_S

T = TypeVar("T")
POLL_S = 0.02


def await_right(look: Callable[[], T], is_right: Callable[[T], object], what: str) -> T:
    """Return the first right result of ``look``; fail with ``what`` and the last result."""
    deadline = time.monotonic() + HANGS_AFTER_S
    while not is_right(found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {HANGS_AFTER_S} s: {what}; last: {found}")
        time.sleep(POLL_S)
    return found


def await_that(holds: Callable[[], object], what: str) -> None:
    """Ask again and again until it holds; if it never does, fail with ``what``."""
    await_right(holds, bool, what)
