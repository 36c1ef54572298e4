"""Sessions and rebalances that end in a test, on a machine that may be too busy to keep up.

Whoever sets a session of some hundred ms has to speak that often. Where the machine stood still for
a good part of it, a failure tells nothing of the broker: then the same is asked again, with longer
times and a group of its own. A failure on a machine that kept its pace counts at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.client.errors import BrokerMisbehaved
from suites.protocol.classic_group import ClassicGroup

SHORT_MS = 600
"""Of a session or a rebalance that is to end in the test, on a fast machine."""

LONGER = (1, 6)
"""What it is multiplied by, in the first attempt and in the second."""

PAUSE_SHARE = 0.1
"""Of such a time: a pause of the machine that a failure may come from."""

STEP_S = 0.005

Act = Callable[[ClassicGroup, int], None]


@dataclass
class Pauses:
    """How late a thread of this process wakes that wants to wake all the time."""

    longest_ms: float = 0.0

    def watch(self, ended: threading.Event) -> None:
        """Until it has ended."""
        before = time.monotonic()
        while not ended.wait(STEP_S):
            now = time.monotonic()
            self.longest_ms = max(self.longest_ms, (now - before - STEP_S) * 1000)
            before = now


@contextmanager
def watched_pauses() -> Iterator[Pauses]:
    """Those of the machine, as far as this process feels them."""
    pauses, ended = Pauses(), threading.Event()
    watch = threading.Thread(target=pauses.watch, args=(ended,), daemon=True)
    watch.start()
    try:
        yield pauses
    finally:
        ended.set()
        watch.join()


def in_time(group: ClassicGroup, act: Act) -> None:
    """``act`` with a group and a short time in ms; once more where the machine was too busy.

    Raises:
        AssertionError, BrokerMisbehaved: of the attempt that counts.
    """
    for factor in LONGER:
        short_ms = int(group.broker.scaled_ms(SHORT_MS * factor))
        attempt = ClassicGroup(group.broker)
        attempt.versions = group.versions
        try:
            with watched_pauses() as pauses:
                act(attempt, short_ms)
            return
        except (AssertionError, BrokerMisbehaved):
            if factor == LONGER[-1] or pauses.longest_ms < PAUSE_SHARE * short_ms:
                raise
        finally:
            attempt.close()
