"""The faults of a test's cluster and the operations of its workloads, on one clock."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.proxies.clock import new_clock
from harness.proxies.event import Event
from harness.runner.faults import EVENTS_KEPT, plain

NEMESIS = "nemesis"
"""The process of a history that does harm."""
OPERATIONS_KEPT = 50_000
_OF_LINKS = ("cut", "healed", "toxic_added", "toxic_removed")
"""The events of links that a history contains."""


class ClusterNotes:
    """The notes of one attempt of a case. Proxies and workloads may write from their threads."""

    def __init__(self) -> None:
        """Its clock begins now."""
        self.now_ms = new_clock()
        self._events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self._told = 0
        self._seen: deque[ClientOperation] = deque(maxlen=OPERATIONS_KEPT)
        self._has_workload = False

    def did(self, what: str, node: int) -> None:
        """Note an action on a node."""
        self._note(Event(self.now_ms(), what, detail={"node": node}))
        self._harmed(f"{what} {node}")

    def hear(self, event: Event) -> None:
        """Note an event of a link, with the time of this clock: the link's clock is older."""
        self._note(replace(event, at_ms=self.now_ms()))
        if event.what in _OF_LINKS:
            self._harmed(f"{event.what} {event.link}")

    def saw(self, operation: ClientOperation) -> None:
        """Note an operation of a workload; its time is of this clock."""
        self._has_workload = True
        self._seen.append(operation)

    def _note(self, event: Event) -> None:
        self._told += 1
        self._events.append(event)

    def _harmed(self, what: str) -> None:
        fault = ClientOperation(
            NEMESIS, OperationOutcome.INFO, ClientAction.FAULT, detail=what, at_ms=self.now_ms()
        )
        self._seen.append(fault)

    def journal(self) -> list[dict[str, Any]]:
        """Return the events in order, as JSON values.

        Of very many events the last ones are returned, after the number of those that were lost.
        """
        events = sorted(self._events, key=lambda event: event.at_ms)
        return plain(events, self._told - len(events))

    def history(self) -> list[ClientOperation]:
        """All operations in order, faults among them; none when there was no workload."""
        seen = list(self._seen) if self._has_workload else []
        return sorted(seen, key=lambda operation: operation.at_ms)
