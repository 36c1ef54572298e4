"""confluent-kafka, which is librdkafka, as a transactional producer and as a consumer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
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
from labs.transaction_histories.library_reader import Ends, LibraryReader, PolledRecord
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.producer import MustAbort
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


class ConfluentProducer:
    """One transactional id; a fatal error makes a new producer of it."""

    def __init__(self, name: str, bootstrap: str, topic: str, notes: TransactionNotes) -> None:
        self.name, self._topic, self._notes = name, topic, notes
        self._bootstrap = bootstrap
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
        self._groups: dict[str, object] = {}

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

    def send_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        """Commit these offsets of a group in the transaction. Raises MustAbort."""
        assert self._producer is not None
        self._note_offsets(INVOKE, offsets)
        places = [TopicPartition(self._topic, at, offset) for at, offset in offsets.items()]
        metadata = self._metadata_of(group)
        try:
            self._patiently(partial(self._producer.send_offsets_to_transaction, places, metadata))
        except (MustAbort, GivenUp) as failed:
            self._note_offsets(INFO, offsets)
            raise MustAbort(str(failed)) from failed
        self._note_offsets(OK, offsets)

    def _metadata_of(self, group: str) -> object:
        """The metadata of a group without members; the library gets it from a consumer alone."""
        if group not in self._groups:
            member = Consumer({**NETWORK, "bootstrap.servers": self._bootstrap, "group.id": group})
            self._groups[group] = member.consumer_group_metadata()
            member.close()
        return self._groups[group]

    def _note_offsets(self, outcome: OperationOutcome, offsets: Mapping[int, int]) -> None:
        for at, offset in offsets.items():
            self._notes.add(self.name, outcome, ClientAction.SEND_OFFSETS, at, offset)

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


class ConfluentReader(LibraryReader):
    """A consumer that is assigned its partitions."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        notes: TransactionNotes,
        partitions: int,
        ends: Ends,
        give_up_s: float,
    ) -> None:
        super().__init__(topic, notes, partitions, ends, give_up_s)
        self._settings = {
            **NETWORK,
            "bootstrap.servers": bootstrap,
            "group.id": "assigned",  # it must have one, and never uses it
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
        }
        self._consumer: Consumer | None = None

    def open_consumer(self) -> None:
        self._consumer = Consumer(self._settings)
        self._consumer.assign([TopicPartition(self.topic, each, 0) for each in self.partitions])

    def poll(self) -> Iterable[PolledRecord]:
        assert self._consumer is not None
        for message in self._consumer.consume(100, POLL_S):
            value, offset = message.value(), message.offset()
            if message.error() is None and value is not None and offset is not None:
                yield message.partition() or 0, offset, value.decode()

    def position(self, partition: int) -> int:
        assert self._consumer is not None
        (found,) = self._consumer.position([TopicPartition(self.topic, partition)])
        return int(found.offset)

    def close_consumer(self) -> None:
        assert self._consumer is not None
        self._consumer.close()
