"""The last events of all proxies, to be read over the API."""

from __future__ import annotations

from collections import deque
from typing import Any

from harness.proxies.event import Event

LIMIT = 10_000


class EventLog:
    """A listener for events that keeps the newest, numbered from 0."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._events: deque[Event] = deque(maxlen=limit)
        self._count = 0

    def __call__(self, event: Event) -> None:
        self._events.append(event)
        self._count += 1

    def to_json(self, after: int = 0) -> dict[str, Any]:
        """Events from number ``after`` on.

        ``next`` is what to ask with next time, ``lost`` how many of them are kept no more.
        """
        oldest = self._count - len(self._events)
        first = min(max(after, oldest), self._count)
        events = [event.to_json() for event in list(self._events)[first - oldest :]]
        return {"events": events, "next": self._count, "lost": max(0, oldest - after)}
