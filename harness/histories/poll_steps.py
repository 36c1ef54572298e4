"""The order in which one consumer receives the records of one partition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from harness.histories.history import ClientOperation
from harness.histories.judgement import Anomaly


class Adds(Protocol):
    """Keeps an anomaly with the operations that show it."""

    def add(self, anomaly: Anomaly, *proof: ClientOperation) -> None: ...


def check_steps(polls: Iterable[ClientOperation], found: Adds) -> set[int]:
    """Add what is repeated and what goes back, and return all offsets.

    A repeated offset counts as duplicate only, not as a step back.
    """
    given: set[int] = set()
    last: ClientOperation | None = None
    for poll in polls:
        if poll.offset in given:
            found.add(Anomaly.POLL_DUPLICATE, poll)
            continue
        given.add(poll.offset)
        if last is not None and poll.offset < last.offset:
            found.add(Anomaly.NONMONOTONIC_POLL, last, poll)
        last = poll
    return given
