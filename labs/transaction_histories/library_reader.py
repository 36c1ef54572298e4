"""A read_committed consumer of a client library, which reads all partitions to their ends."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from threading import Event

from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.reader import CONSUMER, CommittedEnds

Ends = Callable[[int], CommittedEnds]
PolledRecord = tuple[int, int, str]
"""Partition, offset and value."""


class LibraryReader(ABC):
    """Reads every partition from its beginning until the others are done and all is read."""

    name = CONSUMER

    def __init__(
        self, topic: str, notes: TransactionNotes, partitions: int, ends: Ends, give_up_s: float
    ) -> None:
        """``ends``: of a partition, as another client sees them."""
        self.topic, self.partitions = topic, range(partitions)
        self._notes, self._ends, self._give_up_s = notes, ends, give_up_s

    @abstractmethod
    def open_consumer(self) -> None:
        """Make a consumer with all partitions assigned, at their beginnings."""

    @abstractmethod
    def poll(self) -> Iterable[PolledRecord]:
        """Return the next records; wait a moment where there is none."""

    @abstractmethod
    def position(self, partition: int) -> int:
        """The offset from which the consumer goes on."""

    @abstractmethod
    def close_consumer(self) -> None: ...

    def run(self, stop: Event) -> None:
        """Poll until ``stop``, then to the end of each partition, when no transaction is open."""
        self.open_consumer()
        try:
            while not stop.is_set():
                self._poll()
            deadline = time.monotonic() + self._give_up_s
            while not (is_done := self._is_at_end()) and time.monotonic() < deadline:
                self._poll()
            if is_done:
                self._notes.add(self.name, OperationOutcome.OK, ClientAction.FINISH)
            else:
                self._notes.stuck(self.name, "a transaction hangs")
        finally:
            self.close_consumer()

    def _is_at_end(self) -> bool:
        """True if no transaction is open, and all has been read."""
        ends = {partition: self._ends(partition) for partition in self.partitions}
        return all(
            self.position(partition) >= end.stable == end.high_watermark
            for partition, end in ends.items()
        )

    def _poll(self) -> None:
        for partition, offset, value in self.poll():
            self._notes.add(self.name, OperationOutcome.OK, ClientAction.POLL, partition, offset,
                            value)  # fmt: skip
