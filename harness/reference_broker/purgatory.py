"""Waiting requests, each with a condition to check again and a deadline.

Everything here runs on one event loop; a request is removed immediately when its client
disconnects.
"""

import asyncio
from collections.abc import Callable, Iterable

from harness.base.ids import PartitionIndex, TimeMs
from harness.codec.structs import Message
from harness.reference_broker.effects import (
    CheckMade,
    CheckWanted,
    CreationWanted,
    DirectoryChosen,
    Effect,
    GroupMoved,
    IsrProposed,
    MarkersAwaited,
    PartitionGrew,
    ReplicaMoved,
)
from harness.reference_broker.handlers.outcome import PurgatoryWait, WakeKey


class Waiter:
    """A waiting request; `result` is its response, or the reason why there is none."""

    __slots__ = ("result", "timer", "wait")

    def __init__(self, wait: PurgatoryWait, result: "asyncio.Future[Message | bytes]") -> None:
        self.wait = wait
        self.result = result
        self.timer: asyncio.TimerHandle | None = None


class Purgatory:
    """All waiting requests, by the keys that can wake them.

    `expired` is called after the deadline of one: its last attempt may have left effects.
    """

    def __init__(self, expired: Callable[[], None] = lambda: None) -> None:
        self._expired = expired
        self._by_key: dict[WakeKey, dict[Waiter, None]] = {}

    @property
    def watched_keys(self) -> int:
        """The number of partitions and groups that requests wait for."""
        return len(self._by_key)

    def enter(self, wait: PurgatoryWait, now: TimeMs) -> "Waiter":
        """Attempt `wait` again from now on; the caller must call `leave` in every case."""
        loop = asyncio.get_running_loop()
        waiter = Waiter(wait, loop.create_future())
        if wait.deadline is not None and wait.at_deadline is not None:
            delay_s = max(wait.deadline - now, 0) / 1000
            waiter.timer = loop.call_later(delay_s, self._complete, waiter, wait.at_deadline)
        for key in wait.keys:
            self._by_key.setdefault(key, {})[waiter] = None
        return waiter

    def leave(self, waiter: "Waiter") -> None:
        """Remove a request, answered or not."""
        if waiter.timer is not None:
            waiter.timer.cancel()
        for key in waiter.wait.keys:
            watchers = self._by_key[key]
            del watchers[waiter]
            if not watchers:
                del self._by_key[key]

    def wake(self, keys: Iterable[WakeKey]) -> None:
        """Attempt the requests that wait for `keys`, where something has changed."""
        watchers = dict.fromkeys(w for key in keys for w in self._by_key.get(key, ()))
        for waiting in watchers:
            if waiting.result.done():
                continue
            try:
                message = waiting.wait.attempt()
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                waiting.result.set_exception(error)
            else:
                if message is not None:
                    waiting.result.set_result(message)

    def _complete(self, waiting: Waiter, at_deadline: Callable[[], Message]) -> None:
        if waiting.result.done():
            return
        try:
            waiting.result.set_result(at_deadline())
        except Exception as error:  # noqa: BLE001 - whoever waits gets it
            waiting.result.set_exception(error)
        self._expired()


_FOR_OTHER_NODES = (IsrProposed, DirectoryChosen, CreationWanted, CheckWanted, MarkersAwaited)


def keys_of(effect: Effect) -> list[WakeKey]:
    """Return the keys of the requests that an effect wakes."""
    if isinstance(effect, GroupMoved):
        return [effect.group_id]
    if isinstance(effect, CheckMade):
        return [effect.check]
    if isinstance(effect, PartitionGrew | ReplicaMoved):
        return [(effect.topic_id, effect.partition_index)]
    if isinstance(effect, _FOR_OTHER_NODES):
        return []
    return [(effect.topic_id, PartitionIndex(i)) for i in range(effect.partition_count)]
