"""The transactions of each workload, drawn from a seed, and the threads that carry them out."""

from __future__ import annotations

import itertools
import random
import time
from abc import ABC, abstractmethod
from threading import Event
from typing import Protocol

from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.producer import MustAbort
from labs.transaction_histories.reader import read_offset, take
from labs.transaction_histories.wire import ClientWire, GivenUp

APPENDS, TRANSFERS, TRANSFORMS = "appends", "transfers", "transforms"
WORKLOADS = (APPENDS, TRANSFERS, TRANSFORMS)
PAUSE_S = 0.01
INPUTS, OUTPUTS = 2, 4
PARTITIONS = INPUTS + OUTPUTS
MOST_SENDS, MOST_RECORDS, MOST_INPUTS, MOST_MOVED = 4, 3, 3, 100
ABORTED, RESTARTED = 0.15, 0.1
"""The shares of transactions that their client aborts, and leaves open and starts again."""


class TransactionalClient(Protocol):
    """A producer of any client library; each method notes its outcome in the history."""

    name: str

    def begin(self, label: str) -> None:
        """Open a transaction."""

    def send(self, partition: int, values: list[str]) -> None:
        """Write records. Raises MustAbort."""

    def commit(self) -> bool:
        """True if it is surely committed."""

    def abort(self, *, failed: bool) -> None:
        """Abort; ``failed``: a request in it has failed."""


class OffsetsClient(TransactionalClient, Protocol):
    """One that commits offsets too."""

    def send_offsets(self, group: str, offsets: dict[int, int]) -> None:
        """Commit offsets in the transaction. Raises MustAbort."""


class TransactionWorker(ABC):
    """A thread of one producer; ``committed`` counts its surely committed transactions."""

    def __init__(self, producer: TransactionalClient, seed: str) -> None:
        self.producer, self.name = producer, producer.name
        self.dice = random.Random(f"{seed} {self.name}")
        self.committed = 0
        self._numbers = itertools.count(1)

    def run(self, stop: Event) -> None:
        """Carry out transactions until ``stop``."""
        while not stop.is_set():
            label = f"{self.name}-{next(self._numbers)}"
            try:
                self._transaction(label)
            except GivenUp:
                continue  # of a new identity, outside of a transaction
            time.sleep(PAUSE_S)

    def _transaction(self, label: str) -> None:
        self.producer.begin(label)
        try:
            has_records = self.write(label)
        except (MustAbort, GivenUp):
            self.producer.abort(failed=True)
            self.after(committed=False)
            return
        chance = self.dice.random()
        if has_records and chance >= ABORTED + RESTARTED:
            done = self.producer.commit()
            self.committed += done
            self.after(committed=done)
        else:
            self.producer.abort(failed=ABORTED <= chance < ABORTED + RESTARTED)
            self.after(committed=False)

    @abstractmethod
    def write(self, label: str) -> bool:
        """The records of one transaction; False if there is none. Raises MustAbort, GivenUp."""

    def after(self, *, committed: bool) -> None:  # noqa: B027  # most workloads need nothing
        """Called behind each transaction."""


class Appends(TransactionWorker):
    """Appends records of its own to some of the partitions."""

    partitions = range(PARTITIONS)

    def write(self, label: str) -> bool:
        numbers = itertools.count(1)
        for _ in range(self.dice.randint(1, MOST_SENDS)):
            count = self.dice.randint(1, MOST_RECORDS)
            values = [f"{label}.{next(numbers)}" for _ in range(count)]
            self.producer.send(self.dice.choice(self.partitions), values)
        return True


class Feeds(Appends):
    """Appends the records that others consume."""

    partitions = range(INPUTS)


class Transfers(TransactionWorker):
    """Moves an amount from one partition to another one."""

    def write(self, label: str) -> bool:
        source, destination = self.dice.sample(range(PARTITIONS), 2)
        amount = self.dice.randint(1, MOST_MOVED)
        self.producer.send(source, [f"{label}.out:{-amount}"])
        self.producer.send(destination, [f"{label}.in:{amount}"])
        return True


def amount_of(value: str) -> int:
    """The amount that a record of ``Transfers`` moves."""
    return int(value.rpartition(":")[2])


class Transforms(TransactionWorker):
    """Consumes one input partition, and writes a record for each of its records."""

    producer: OffsetsClient

    def __init__(
        self,
        producer: OffsetsClient,
        seed: str,
        notes: TransactionNotes,
        partition: int,
        wire: ClientWire,
    ) -> None:
        """``wire``: reads the input and the committed offset."""
        super().__init__(producer, seed)
        self.partition, self._notes, self._wire = partition, notes, wire
        self.group = f"{wire.topic.name}-group-{partition}"
        self._position: int | None = None
        self._next = 0

    def write(self, label: str) -> bool:
        if self._position is None:
            self._position = read_offset(
                self._wire, self._notes, self.name, self.group, self.partition
            )
        found, _ = take(self._wire, self.partition, self._position)
        inputs = found.records[: self.dice.randint(1, MOST_INPUTS)]
        for offset, value in inputs:
            self._notes.add(self.name, OperationOutcome.OK, ClientAction.CONSUME, self.partition,
                            offset, value)  # fmt: skip
        for number, (_, value) in enumerate(inputs):
            output = self.dice.randrange(INPUTS, PARTITIONS)
            self.producer.send(output, [f"{label}.{number}({value})"])
        if inputs:
            self._next = inputs[-1][0] + 1
            self.producer.send_offsets(self.group, {self.partition: self._next})
        return bool(inputs)

    def after(self, *, committed: bool) -> None:
        """Go on behind what is committed; in doubt the committed offset decides."""
        self._position = self._next if committed else None
