"""What was done to the cluster of a test, and what its workloads saw, on one clock."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from harness.faults import EVENTS_KEPT, plain
from harness.histories.history import Action, Operation, Outcome
from harness.proxies.clock import new_clock
from harness.proxies.event import Event

NEMESIS = "nemesis"
"""The process of a history that does harm."""
OPERATIONS_KEPT = 50_000
_OF_LINKS = ("cut", "healed", "toxic_added", "toxic_removed")
"""What of the events of links is worth a line in a history."""


class ClusterNotes:
    """The notes of one attempt of a case. Proxies and workloads may write from their threads."""

    def __init__(self) -> None:
        """Its clock begins now."""
        self.now_ms = new_clock()
        self._events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self._told = 0
        self._seen: deque[Operation] = deque(maxlen=OPERATIONS_KEPT)
        self._has_workload = False

    def did(self, what: str, node: int) -> None:
        """Something was done to a node."""
        self._note(Event(self.now_ms(), what, detail={"node": node}))
        self._harmed(f"{what} {node}")

    def hear(self, event: Event) -> None:
        """A link tells what was done; its own clock is older."""
        self._note(replace(event, at_ms=self.now_ms()))
        if event.what in _OF_LINKS:
            self._harmed(f"{event.what} {event.link}")

    def saw(self, operation: Operation) -> None:
        """A workload tells of an operation, with a time of this clock."""
        self._has_workload = True
        self._seen.append(operation)

    def _note(self, event: Event) -> None:
        self._told += 1
        self._events.append(event)

    def _harmed(self, what: str) -> None:
        fault = Operation(NEMESIS, Outcome.INFO, Action.FAULT, detail=what, at_ms=self.now_ms())
        self._seen.append(fault)

    def journal(self) -> list[dict[str, Any]]:
        """What was done, in order, as JSON can hold it; of very much the last, which is said."""
        events = sorted(self._events, key=lambda event: event.at_ms)
        return plain(events, self._told - len(events))

    def history(self) -> list[Operation]:
        """All operations in order, faults among them; none when there was no workload."""
        seen = list(self._seen) if self._has_workload else []
        return sorted(seen, key=lambda operation: operation.at_ms)
