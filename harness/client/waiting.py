"""The wait for a state that answers show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from harness.client.growing_pause import GrowingPause
from harness.client.user_watch import UserWatch

T = TypeVar("T")
REFUSED_MS = 500
"""A right that is missing for so long does not come: what lacks it is not awaited any longer."""


def last_seen(
    ask: Callable[[], T], is_right: Callable[[T], bool], within_ms: float, watch: UserWatch | None
) -> T:
    """The first answer that is right; when none was within the time, the last.

    ``watch``: shows refusals of the user of the run, which end the wait after ``REFUSED_MS``.
    """
    began_s, pause = time.monotonic(), GrowingPause()
    refused = 0 if watch is None else watch.count
    while not is_right(found := ask()):
        is_refused = watch is not None and watch.count > refused
        limit_ms = min(within_ms, REFUSED_MS) if is_refused else within_ms
        if time.monotonic() > began_s + limit_ms / 1000:
            break
        pause.sleep()
    return found
