"""The clock of proxies: what shares one tells its events in one order."""

from __future__ import annotations

import time
from collections.abc import Callable


def new_clock() -> Callable[[], float]:
    """Milliseconds since now."""
    began = time.monotonic()
    return lambda: (time.monotonic() - began) * 1000
