"""Deadlines by key, each with an action. The owner passes the time; nothing here has a clock."""

import heapq
from collections.abc import Callable, Hashable

from harness.base.ids import TimeMs

Action = Callable[[TimeMs], None]
_KEPT_STALE = 64


class Alarms:
    """At most one alarm for each key."""

    __slots__ = ("_heap", "_next_number", "_pending")

    def __init__(self) -> None:
        self._heap: list[tuple[TimeMs, int, Hashable]] = []
        self._pending: dict[Hashable, tuple[int, Action]] = {}
        self._next_number = 0

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def next_at(self) -> TimeMs | None:
        """Time of the earliest alarm; None if there is none."""
        while self._heap and not self._is_pending(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def set(self, key: Hashable, at: TimeMs, action: Action) -> None:
        """Call `action` at that time; replace an earlier alarm of `key`."""
        number, self._next_number = self._next_number, self._next_number + 1
        self._pending[key] = (number, action)
        if len(self._heap) > 2 * len(self._pending) + _KEPT_STALE:
            self._heap = [entry for entry in self._heap if self._is_pending(entry)]
            heapq.heapify(self._heap)
        heapq.heappush(self._heap, (at, number, key))

    def cancel(self, key: Hashable) -> None:
        """Remove the alarm of `key`, if there is one."""
        self._pending.pop(key, None)

    def ring(self, now: TimeMs) -> list[Hashable]:
        """Run the actions that are due, the earliest first, and return their keys.

        An alarm that an action sets waits for the next call.
        """
        rung: list[Hashable] = []
        first_of_later = self._next_number
        set_meanwhile: list[tuple[TimeMs, int, Hashable]] = []
        while self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            if not self._is_pending(entry):
                continue
            _, number, key = entry
            if number >= first_of_later:
                set_meanwhile.append(entry)
                continue
            rung.append(key)
            self._pending.pop(key)[1](now)
        for entry in set_meanwhile:
            heapq.heappush(self._heap, entry)
        return rung

    def _is_pending(self, entry: tuple[TimeMs, int, Hashable]) -> bool:
        _, number, key = entry
        known = self._pending.get(key)
        return known is not None and known[0] == number
