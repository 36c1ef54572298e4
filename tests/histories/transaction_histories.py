"""Histories of transactions in a short notation, and drawn ones of a serial broker."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome

INVOKE, OK, FAIL, INFO = OperationOutcome
CONSUMER, READER = "consumer", "reader"
READ = ClientOperation(READER, OK, ClientAction.FINAL_READ)


def begin(process: str, name: str = "") -> ClientOperation:
    return ClientOperation(process, OK, ClientAction.BEGIN, value=name or f"{process}'s")


def send(process: str, partition: int, value: str) -> ClientOperation:
    return ClientOperation(process, INVOKE, ClientAction.SEND, partition, value=value)


def sent(
    process: str,
    partition: int,
    value: str,
    offset: int = -1,
    outcome: OperationOutcome = OK,
) -> ClientOperation:
    return ClientOperation(process, outcome, ClientAction.SEND, partition, offset, value)


def consumed(process: str, partition: int, offset: int, value: str) -> ClientOperation:
    return ClientOperation(process, OK, ClientAction.CONSUME, partition, offset, value)


def commit(process: str, outcome: OperationOutcome = INVOKE) -> ClientOperation:
    return ClientOperation(process, outcome, ClientAction.COMMIT)


def abort(process: str, outcome: OperationOutcome = INVOKE) -> ClientOperation:
    return ClientOperation(process, outcome, ClientAction.ABORT)


def polled(partition: int, offset: int, value: str, process: str = CONSUMER) -> ClientOperation:
    return ClientOperation(process, OK, ClientAction.POLL, partition, offset, value)


def end(partition: int, offset: int) -> ClientOperation:
    return ClientOperation(CONSUMER, OK, ClientAction.END, partition, offset)


def finished(process: str = CONSUMER, outcome: OperationOutcome = OK) -> ClientOperation:
    return ClientOperation(process, outcome, ClientAction.FINISH)


def offsets(
    partition: int, offset: int = -1, process: str = "a", outcome: OperationOutcome = OK
) -> ClientOperation:
    return ClientOperation(process, outcome, ClientAction.READ_OFFSETS, partition, offset)


def whole(process: str, *records: tuple[int, str], outcome: OperationOutcome = OK) -> (
    list[ClientOperation]
):  # fmt: skip
    """A transaction of these records, and the end of its commit."""
    sends = [send(process, partition, value) for partition, value in records]
    return [begin(process), *sends, commit(process), commit(process, outcome)]


def log(**partitions: str) -> list[ClientOperation]:
    """``log(p0="ab-c")``: each letter at the offset of its position; ``-`` is no record."""
    return [
        ClientOperation(READER, OK, ClientAction.FINAL_READ, int(name[1:]), offset, value)
        for name, values in partitions.items()
        for offset, value in enumerate(values)
        if value != "-"
    ] + [READ]


class SerialBroker:
    """Plays whole transactions one after the other, consumers included: no anomaly can be there."""

    def __init__(self, seed: int, partitions: int = 4, processes: int = 3) -> None:
        self.dice = random.Random(seed)
        self.partitions, self.processes = partitions, processes
        self.history: list[ClientOperation] = []
        self.stored: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        self._ends: defaultdict[int, int] = defaultdict(int)
        self._read: defaultdict[int, int] = defaultdict(int)
        self._consumed = 0  # of the records of partition 0, the input
        self._count = 0

    def play(self, transactions: int) -> list[ClientOperation]:
        """Return the history of so many transactions, with the log at its end."""
        for _ in range(transactions):
            self._transaction(f"p{self.dice.randrange(self.processes)}")
            if self.dice.random() < 0.3:
                self._poll(self.dice.randrange(self.partitions))
        for partition in range(self.partitions):
            self._poll(partition)
        self.history += [finished(), *self._final_read(), READ]
        return self.history

    def _transaction(self, process: str) -> None:
        self._count += 1
        self.history.append(begin(process, f"t{self._count}"))
        commits = self.dice.random() < 0.8
        inputs = self._consume(process)
        records = [(self.dice.randrange(self.partitions), f"{self._count}.{number}")
                   for number in range(self.dice.randint(1, 4))]  # fmt: skip
        for partition, value in records:
            offset = self._ends[partition]
            self._ends[partition] += 1
            self.history += [send(process, partition, value),
                             sent(process, partition, value, offset)]  # fmt: skip
            if commits:
                self.stored[partition].append((offset, value))
        end_ = commit if commits else abort
        self.history += [end_(process), end_(process, OK)]
        self._consumed += inputs * commits
        for partition in {partition for partition, _ in records}:
            self._ends[partition] += 1  # the marker
        if inputs and commits:
            offset = self.stored[0][self._consumed - 1][0] + 1
            self.history += [offsets(0, process=process, outcome=INVOKE),
                             offsets(0, offset, process)]  # fmt: skip

    def _consume(self, process: str) -> int:
        new = self.stored[0][self._consumed : self._consumed + self.dice.randrange(3)]
        self.history += [consumed(process, 0, offset, value) for offset, value in new]
        return len(new)

    def _poll(self, partition: int) -> None:
        for offset, value in self.stored[partition][self._read[partition] :]:
            self.history.append(polled(partition, offset, value))
        self._read[partition] = len(self.stored[partition])
        self.history.append(end(partition, self._ends[partition]))

    def _final_read(self) -> Iterable[ClientOperation]:
        for partition in range(self.partitions):
            for offset, value in self.stored[partition]:
                yield ClientOperation(READER, OK, ClientAction.FINAL_READ, partition, offset, value)
