"""The wall clock of a node, in the unit of Kafka's timestamps."""

import time

from harness.base.ids import TimeMs


def now_ms() -> TimeMs:
    """Return the time of the wall clock."""
    return TimeMs(time.time_ns() // 1_000_000)
