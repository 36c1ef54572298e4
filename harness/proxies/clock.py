"""The clock of proxies: proxies with the same clock have their events in one order."""

from __future__ import annotations

import time
from collections.abc import Callable


def new_clock() -> Callable[[], float]:
    """Return a clock that gives the milliseconds since this call."""
    began = time.monotonic()
    return lambda: (time.monotonic() - began) * 1000
