"""Two kinds of producers: one sends a batch once, one repeats it with the same sequence number."""

from __future__ import annotations

import itertools
import random
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import replace

from harness.client.errors import BrokerMisbehaved
from harness.codec.error_code import ErrorCode
from harness.codec.messages import InitProducerIdRequest, ProduceResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.histories.history import OperationOutcome
from labs.crash_loops.clients import LoadClients
from labs.crash_loops.notes import CrashNotes, payload

PAUSE_S = 0.01
MOST_RECORDS = 3  # of a batch
NEVER_WRITTEN = {ErrorCode.NOT_ENOUGH_REPLICAS}
"""Error codes after which the records are surely not in the log."""
LOST_TRACK = {
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.UNKNOWN_PRODUCER_ID,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
}
"""Error codes after which a producer needs a new id: the log has forgotten its state."""


class LoadProducer(ABC):
    """A thread that sends batches of unique values to partitions of its own, one at a time."""

    def __init__(
        self,
        name: str,
        acks: int,
        partitions: range,
        clients: LoadClients,
        notes: CrashNotes,
        seed: str,
    ) -> None:
        self.name = name
        self.acks, self.partitions = acks, partitions
        self.clients, self.notes = clients, notes
        self.stopped = threading.Event()
        self._dice = random.Random(f"{seed} {name}")
        self._numbers = itertools.count(1)

    def run(self) -> None:
        """Send batches until the producer is stopped."""
        while not self.stopped.is_set():
            partition = self._dice.choice(self.partitions)
            count = self._dice.randint(1, MOST_RECORDS)
            values = [f"{self.name}-{next(self._numbers)}" for _ in range(count)]
            if self.clients.leader(partition) is not None:
                for value in values:
                    self.notes.sends(self.name, value, partition)
                self.send(values, partition)
            time.sleep(PAUSE_S)

    @abstractmethod
    def send(self, values: list[str], partition: int) -> None:
        """Send one batch and note an outcome for every value."""

    def ask(
        self, batch: RecordBatch, partition: int
    ) -> ProduceResponse.PartitionProduceResponse | str:
        """Return the leader's answer, or a text about a failure."""
        client = self.clients.leader(partition)
        if client is None:
            return "nobody leads"
        try:
            answer = client.produce(
                self.clients.topic, encode_batch(batch), partition=partition, acks=self.acks
            )
        except BrokerMisbehaved as failed:
            self.clients.forget(partition)
            return type(failed).__name__
        if answer.error_code != ErrorCode.NONE:
            self.clients.forget(partition)
        return answer

    def end(self, outcome: OperationOutcome, values: list[str], partition: int, base: int = -1,
            detail: str = "") -> None:  # fmt: skip
        """Note the outcome of all records of a batch."""
        for delta, value in enumerate(values):
            offset = -1 if base < 0 else base + delta
            self.notes.ended(self.name, outcome, value, partition, offset, detail)


def batch_of(values: list[str]) -> RecordBatch:
    """Return an uncompressed batch of these values with the present time."""
    now_ms = time.time_ns() // 1_000_000
    return RecordBatch([Record(payload(value)) for value in values], base_timestamp=now_ms)


class Plain(LoadProducer):
    """Sends each batch once."""

    def send(self, values: list[str], partition: int) -> None:
        answer = self.ask(batch_of(values), partition)
        if isinstance(answer, str):
            self.end(OperationOutcome.INFO, values, partition, detail=answer)
        elif answer.error_code == ErrorCode.NONE:
            self.end(OperationOutcome.OK, values, partition, answer.base_offset)
        else:
            outcome = (
                OperationOutcome.FAIL
                if answer.error_code in NEVER_WRITTEN
                else OperationOutcome.INFO
            )
            self.end(outcome, values, partition, detail=ErrorCode.describe(answer.error_code))


class Idempotent(LoadProducer):
    """Sends each batch again until its outcome is known."""

    _id: tuple[int, int] | None = None

    def send(self, values: list[str], partition: int) -> None:
        batch = self._numbered(values, partition)
        while batch is not None and not self.stopped.is_set():
            answer = self.ask(batch, partition)
            if not isinstance(answer, str) and self._is_settled(answer, values, partition):
                return
            time.sleep(PAUSE_S)
        self._id = None  # the next batch may not follow one of which nothing is known
        self.end(OperationOutcome.INFO, values, partition, detail="stopped")

    def _is_settled(
        self, answer: ProduceResponse.PartitionProduceResponse, values: list[str], partition: int
    ) -> bool:
        if answer.error_code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._next[partition] += len(values)
            self.end(OperationOutcome.OK, values, partition, answer.base_offset)
            return True
        if answer.error_code in LOST_TRACK:
            self._id = None
            said = ErrorCode.describe(answer.error_code)
            self.end(OperationOutcome.INFO, values, partition, detail=said)
            return True
        return False

    def _numbered(self, values: list[str], partition: int) -> RecordBatch | None:
        """The batch with the sequence number that is its own; None: stopped before there was."""
        while self._id is None and not self.stopped.is_set():
            self._ask_for_id()
            time.sleep(PAUSE_S)
        if self._id is None:
            return None
        producer_id, epoch = self._id
        return replace(
            batch_of(values),
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=self._next[partition],
        )

    def _ask_for_id(self) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        for client in self.clients.any():
            with suppress(BrokerMisbehaved):
                answer = client.ask(request)
                if answer.error_code == ErrorCode.NONE:
                    self._id = (answer.producer_id, answer.producer_epoch)
                    self._next = dict.fromkeys(self.partitions, 0)
                    return
