"""Where requests wait: each with a condition to be asked again and a deadline.

Everything here runs on one event loop; a request whose client goes away is taken out at once.
"""

import asyncio
from collections.abc import Iterable

from harness.codec.structs import Message
from harness.ids import TimeMs
from harness.reference_broker.handlers.outcome import PartitionKey, Wait


class _Waiting:
    __slots__ = ("result", "wait")

    def __init__(self, wait: Wait, result: "asyncio.Future[Message]") -> None:
        self.wait = wait
        self.result = result


class Purgatory:
    """All waiting requests, by the partitions that can wake them."""

    def __init__(self) -> None:
        self._by_key: dict[PartitionKey, dict[_Waiting, None]] = {}

    @property
    def watched_keys(self) -> int:
        """How many partitions somebody waits for."""
        return len(self._by_key)

    async def wait(self, wait: Wait, now: TimeMs) -> Message:
        """Return when the condition holds or the deadline has come. Cancelling leaves no trace."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(wait, loop.create_future())
        delay_s = max(wait.deadline - now, 0) / 1000
        timer = loop.call_later(delay_s, _complete_at_deadline, waiting)
        for key in wait.keys:
            self._by_key.setdefault(key, {})[waiting] = None
        try:
            return await waiting.result
        finally:
            timer.cancel()
            for key in wait.keys:
                watchers = self._by_key[key]
                del watchers[waiting]
                if not watchers:
                    del self._by_key[key]

    def wake(self, keys: Iterable[PartitionKey]) -> None:
        """Something changed at `keys`: ask those who wait for it."""
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


def _complete_at_deadline(waiting: _Waiting) -> None:
    if waiting.result.done():
        return
    try:
        waiting.result.set_result(waiting.wait.at_deadline())
    except Exception as error:  # noqa: BLE001 - whoever waits gets it
        waiting.result.set_exception(error)
