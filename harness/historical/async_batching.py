"""The asynchronous producer's queue, and the times at which it sends batches.

"Producer APIs": the producer buffers events until either ``queue.time`` or ``batch.size`` is
reached. The time counts from the oldest event in the queue, so that no event waits longer
(ProducerSendThread counted from the last sending, which is never later).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

E = TypeVar("E")


@dataclass(slots=True)
class AsyncBatching(Generic[E]):
    """A queue of events; each method returns the batch to send now, which is often empty.

    Time never goes backwards from call to call.
    """

    batch_size: int
    queue_time_ms: int
    _waiting: list[E] = field(default_factory=list)
    _oldest_ms: int = 0

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.queue_time_ms < 0:
            raise ValueError(f"batches of {self.batch_size} after {self.queue_time_ms} ms")

    @property
    def due_at_ms(self) -> int | None:
        """The latest time for a call of :meth:`expire`; None while the queue is empty."""
        return self._oldest_ms + self.queue_time_ms if self._waiting else None

    def add(self, event: E, now_ms: int) -> list[E]:
        """Queue an event; return the batch if it is full or its time is over."""
        if not self._waiting:
            self._oldest_ms = now_ms
        self._waiting.append(event)
        if len(self._waiting) >= self.batch_size:
            return self.close()
        return self.expire(now_ms)

    def expire(self, now_ms: int) -> list[E]:
        """Return the batch if its time is over."""
        due_at_ms = self.due_at_ms
        return [] if due_at_ms is None or now_ms < due_at_ms else self.close()

    def close(self) -> list[E]:
        """Return all queued events, as when the producer is closed."""
        batch, self._waiting = self._waiting, []
        return batch
