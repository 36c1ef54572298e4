"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LIMIT_S = 60
POLL_S = 0.02


def await_right(
    look: Callable[[], T], is_right: Callable[[T], object], what: str, limit_s: float = LIMIT_S
) -> T:
    """What ``look`` gives as soon as it is right; fails with ``what`` and the last that it gave."""
    deadline = time.monotonic() + limit_s
    while not is_right(found := look()):
        assert time.monotonic() < deadline, f"not within {limit_s} s: {what}; last: {found}"
        time.sleep(POLL_S)
    return found


def await_that(holds: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
    """Ask again and again until it holds; after a minute the test fails and says ``what``."""
    await_right(holds, bool, what, limit_s)
