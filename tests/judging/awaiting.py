"""Waiting for what another process does."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_S = 60
POLL_S = 0.02


def await_that(holds: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
    """Ask again and again until it holds; after a minute the test fails and says ``what``."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(POLL_S)
