"""confluent-kafka, which is librdkafka, as a transactional producer and as a consumer."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.producer import MustAbort
from labs.transaction_histories.reader import CONSUMER, CommittedEnds
from labs.transaction_histories.wire import DELIVERY_S, GivenUp

POLL_S, SETUP_MS, BACKOFF_MS, ANSWER_MS = 0.1, 1000, 50, 2500
INVOKE, OK, FAIL, INFO = OperationOutcome
NETWORK: dict[str, Any] = {
    "broker.address.family": "v4",
    "socket.timeout.ms": ANSWER_MS,
    "socket.connection.setup.timeout.ms": SETUP_MS,
    "reconnect.backoff.ms": BACKOFF_MS,
    "reconnect.backoff.max.ms": 500,
    "retry.backoff.ms": BACKOFF_MS,
    "log_level": 0,
}
Ends = Callable[[int], CommittedEnds]


class ConfluentProducer:
    """One transactional id; a fatal error makes a new producer of it."""

    def __init__(self, name: str, bootstrap: str, topic: str, notes: TransactionNotes) -> None:
        self.name, self._topic, self._notes = name, topic, notes
        self._settings = {
            **NETWORK,
            "bootstrap.servers": bootstrap,
            "transactional.id": f"{topic}-{name}",
            "transaction.timeout.ms": 30_000,
            "message.timeout.ms": 20_000,
            "request.timeout.ms": ANSWER_MS,
            "linger.ms": 1,
        }
        self._producer: Producer | None = None

    def begin(self, label: str) -> None:
        """Open a transaction. Raises GivenUp: there is no identity in time."""
        if self._producer is None:
            made = Producer(self._settings)
            self._patiently(made.init_transactions)
            self._producer = made
        self._producer.begin_transaction()
        self._notes.add(self.name, OK, ClientAction.BEGIN, value=label)

    def send(self, partition: int, values: list[str]) -> None:
        """Hand over the records; their outcome comes later. Raises MustAbort."""
        assert self._producer is not None
        for value in values:
            self._notes.add(self.name, INVOKE, ClientAction.SEND, partition, value=value)
            delivered = partial(self._delivered, value, partition)
            try:
                self._producer.produce(
                    self._topic, value.encode(), partition=partition, on_delivery=delivered
                )
            except (KafkaException, BufferError) as failed:
                self._notes.add(self.name, FAIL, ClientAction.SEND, partition, value=value,
                                detail=str(failed))  # fmt: skip
                raise MustAbort(str(failed)) from failed
        self._producer.poll(0)

    def _delivered(
        self, value: str, partition: int, error: KafkaError | None, message: Message
    ) -> None:
        found = message.offset() if error is None else None
        offset = -1 if found is None else found
        said = "" if error is None else str(error)
        self._notes.add(self.name, OK if error is None else INFO, ClientAction.SEND, partition,
                        offset, value, said)  # fmt: skip

    def commit(self) -> bool:
        """True if it is surely committed; else it is aborted, or of unknown outcome."""
        assert self._producer is not None
        self._notes.add(self.name, INVOKE, ClientAction.COMMIT)
        outcome, said = OK, ""
        try:
            self._patiently(self._producer.commit_transaction)
        except GivenUp as failed:
            outcome, said = INFO, str(failed)
            self._producer = None
        except MustAbort as failed:
            outcome, said = FAIL, str(failed)
        self._notes.add(self.name, outcome, ClientAction.COMMIT, detail=said)
        if outcome is FAIL:
            self._end_failed()
        return outcome is OK

    def abort(self, *, failed: bool) -> None:
        """Abort, if need be by a new producer of the same id: the library knows its state."""
        self._notes.add(self.name, INVOKE, ClientAction.ABORT)
        self._end_failed()
        self._notes.add(self.name, OK, ClientAction.ABORT)

    def _end_failed(self) -> None:
        assert self._producer is not None
        try:
            self._patiently(self._producer.abort_transaction)
        except (GivenUp, MustAbort):
            self._producer = None

    def _patiently(self, step: Callable[[float], None]) -> None:
        """Repeat a step as its errors say. Raises MustAbort, GivenUp (fatal, or too long)."""
        deadline = time.monotonic() + 2 * DELIVERY_S
        while True:
            try:
                return step(DELIVERY_S)
            except KafkaException as failed:
                error = failed.args[0]
                if error.txn_requires_abort():
                    raise MustAbort(str(error)) from failed
                if error.fatal() or not error.retriable() or time.monotonic() > deadline:
                    raise GivenUp(str(error)) from failed


class ConfluentReader:
    """Reads every partition from its beginning until the others are done and all is read."""

    name = CONSUMER

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        notes: TransactionNotes,
        partitions: int,
        ends: Ends,
        give_up_s: float,
    ) -> None:
        """``ends``: of a partition, as another client sees them."""
        self._give_up_s = give_up_s
        self._topic, self._notes, self._partitions, self._ends = topic, notes, partitions, ends
        self._settings = {
            **NETWORK,
            "bootstrap.servers": bootstrap,
            "group.id": "assigned",  # it must have one, and never uses it
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
        }

    def run(self, stop: Event) -> None:
        """Poll until ``stop``, then to the end of each partition, when no transaction is open."""
        consumer = Consumer(self._settings)
        assigned = [TopicPartition(self._topic, each, 0) for each in range(self._partitions)]
        consumer.assign(assigned)
        while not stop.is_set():
            self._poll(consumer)
        deadline = time.monotonic() + self._give_up_s
        while not self._is_at_end(consumer, assigned) and time.monotonic() < deadline:
            self._poll(consumer)
        if self._is_at_end(consumer, assigned):
            self._notes.add(self.name, OK, ClientAction.FINISH)
        else:
            self._notes.stuck(self.name, "a transaction hangs")
        consumer.close()

    def _is_at_end(self, consumer: Consumer, assigned: list[TopicPartition]) -> bool:
        """True if no transaction is open, and all has been read."""
        ends = {each.partition: self._ends(each.partition) for each in assigned}
        return all(
            one.offset >= ends[one.partition].stable == ends[one.partition].high_watermark
            for one in consumer.position(assigned)
        )

    def _poll(self, consumer: Consumer) -> None:
        for message in consumer.consume(100, POLL_S):
            value, offset = message.value(), message.offset()
            if message.error() is None and value is not None and offset is not None:
                self._notes.add(self.name, OK, ClientAction.POLL, message.partition() or 0,
                                offset, value.decode())  # fmt: skip
