"""kafka-python as a transactional producer and as a consumer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from labs.transaction_histories.library_producer import (
    NO_OFFSET,
    LibraryFailed,
    LibraryProducer,
    SentRecord,
)
from labs.transaction_histories.library_reader import Ends, LibraryReader, PolledRecord
from labs.transaction_histories.notes import TransactionNotes

ANSWER_MS, BLOCK_MS, TRANSACTION_MS, POLL_MS = 2_500, 20_000, 30_000, 100
NETWORK: dict[str, Any] = {
    "request_timeout_ms": ANSWER_MS,
    "reconnect_backoff_ms": 50,
    "reconnect_backoff_max_ms": 500,
    "retry_backoff_ms": 50,
}


class KafkaPythonProducer(LibraryProducer):
    """Its calls that wait have no limit of their own: each runs in a thread that may be left."""

    def __init__(self, name: str, bootstrap: str, topic: str, notes: TransactionNotes) -> None:
        super().__init__(name, topic, notes)
        self._bootstrap = bootstrap
        self._producer: Any = None
        self._sends: list[tuple[int, str, Any]] = []

    def open_producer(self) -> None:
        self._within(self._make)

    def _make(self) -> None:
        made = KafkaProducer(
            **NETWORK,
            bootstrap_servers=self._bootstrap.split(","),
            transactional_id=self.transactional_id,
            transaction_timeout_ms=TRANSACTION_MS,
            delivery_timeout_ms=BLOCK_MS,
            max_block_ms=BLOCK_MS,
            linger_ms=1,
        )
        try:
            made.init_transactions()
        except KafkaError:
            made.close(timeout=0)  # it has no records yet
            raise
        self._producer = made

    def begin_transaction(self) -> None:
        self._sends.clear()
        self._within(self._producer.begin_transaction)

    def hand_over(self, partition: int, values: Sequence[str]) -> None:
        for value in values:
            try:
                sent = self._producer.send(self.topic, value.encode(), partition=partition)
            except KafkaError as failed:
                raise LibraryFailed(repr(failed)) from failed
            self._sends.append((partition, value, sent))

    def flush(self) -> list[SentRecord]:
        self._within(self._producer.flush)
        return [_outcome(*one) for one in self._sends]

    def add_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        places = {
            TopicPartition(self.topic, partition): OffsetAndMetadata(offset, "", -1)
            for partition, offset in offsets.items()
        }
        self._within(lambda: self._producer.send_offsets_to_transaction(places, group))

    def end_transaction(self, *, commits: bool) -> None:
        producer = self._producer
        self._within(producer.commit_transaction if commits else producer.abort_transaction)

    def close_producer(self) -> None:
        """With time 0 the library does not close a producer that has records under way."""
        producer, self._producer = self._producer, None
        with suppress(LibraryFailed):
            self._within(lambda: producer.close(timeout=2 * BLOCK_MS / 1000))

    def _within(self, step: Callable[[], object]) -> None:
        """Raises LibraryFailed: the step failed, or it takes too long and is left."""
        errors: list[Exception] = []

        def run() -> None:
            try:
                step()
            except Exception as failed:  # a library raises many kinds
                errors.append(failed)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(2 * BLOCK_MS / 1000)
        if thread.is_alive():
            raise LibraryFailed(f"no outcome in {2 * BLOCK_MS} ms")
        if errors:
            raise LibraryFailed(repr(errors[0])) from errors[0]


def _outcome(partition: int, value: str, sent: Any) -> SentRecord:
    if sent.succeeded():
        return SentRecord(partition, value, sent.value.offset, "")
    return SentRecord(partition, value, NO_OFFSET, repr(sent.exception))


class KafkaPythonReader(LibraryReader):
    """A consumer without a group."""

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
        self._bootstrap = bootstrap
        self._consumer: Any = None

    def open_consumer(self) -> None:
        self._consumer = KafkaConsumer(
            **NETWORK,
            bootstrap_servers=self._bootstrap.split(","),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="none",
            isolation_level="read_committed",
            fetch_max_wait_ms=POLL_MS,
        )
        places = [TopicPartition(self.topic, each) for each in self.partitions]
        self._consumer.assign(places)
        for place in places:
            self._consumer.seek(place, 0)

    def poll(self) -> Iterable[PolledRecord]:
        for records in self._consumer.poll(timeout_ms=POLL_MS).values():
            for one in records:
                yield one.partition, one.offset, one.value.decode()

    def position(self, partition: int) -> int:
        found: int = self._consumer.position(TopicPartition(self.topic, partition))
        return found

    def close_consumer(self) -> None:
        self._consumer.close()
