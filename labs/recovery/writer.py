"""Writes a partition: plain batches in every codec, an idempotent producer, transactions."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
)
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.codec.records.record import Header, Record

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
OLD_CODECS = ("none", "gzip", "none")
TRANSACTIONAL = 0x10
BATCH_MS = 1_000
_TIMEOUT_MS = 600_000
_BUSY = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.LEADER_NOT_AVAILABLE,  # a broker that has just started; nothing was appended
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


class NotWritten(Exception):
    """The broker refused what a log is made of."""


@dataclass(slots=True)
class _Producer:
    """An idempotent producer; ``transaction``: its transactional id, if it has one."""

    id: int
    epoch: int
    sequence: int = 0
    transaction: str | None = None


class LogWriter:
    """Appends to partition 0; each batch is a second younger than the one before."""

    def __init__(self, broker: BrokerUnderTest, topic: Topic, seed: int, time_ms: int) -> None:
        self.broker, self.topic = broker, topic
        self._dice, self._time_ms = random.Random(f"{topic.name}-{seed}"), time_ms
        self._idempotent: _Producer | None = None
        self._count = 0

    def batches(self, codecs: tuple[str, ...], records: int = 4) -> None:
        """Append one batch in each of these codecs, without a producer id."""
        for codec in codecs:
            batch = RecordBatch(self._records(records), base_timestamp=self._next_ms())
            self._produce(encode_batch(batch, codec))

    def messages(self, magic: int) -> None:
        """As brokers before 0.11 have them."""
        for codec in OLD_CODECS:
            time_ms = self._next_ms()
            messages = [
                LegacyMessage(self._value(), b"k%d" % place, time_ms + place if magic else -1,
                place,
                        magic)
                for place in range(4)
            ]  # fmt: skip
            self._send(encode_message_set(messages, codec), 2 if magic else 0)

    def idempotent(self, batches: int = 2) -> None:
        """Append batches of one idempotent producer with continuing sequences."""
        if self._idempotent is None:
            self._idempotent = self._init(None)
        for _ in range(batches):
            self._append(self._idempotent, 0)

    def transaction(self, name: str, *, end: bool | None, batches: int = 2) -> None:
        """``end``: whether it is committed; None leaves it open."""
        producer = self._init(name)
        self._add(producer, name)
        for _ in range(batches):
            self._append(producer, TRANSACTIONAL)
        if end is None:
            return
        request = EndTxnRequest(
            transactional_id=name,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            committed=end,
        )
        self._until(lambda: self.broker.ask(request, 3).error_code, f"{name} ends")
        self._init(name)  # EndTxn is answered before the markers are written, this is not

    # -- batches -------------------------------------------------------------------------------

    def _next_ms(self) -> int:
        self._count += 1
        return self._time_ms + self._count * BATCH_MS

    def _value(self) -> bytes:
        return self._dice.randbytes(20) + b"compress me " * 4

    def _records(self, count: int) -> list[Record]:
        return [
            Record(
                self._value(),
                None if place == 0 else b"k%d" % place,
                [Header("h", b"v"), Header("n", None)] if place == 1 else (),
                timestamp_delta=place,
            )
            for place in range(count)
        ]

    def _append(self, producer: _Producer, attributes: int) -> None:
        batch = RecordBatch(
            self._records(2),
            base_timestamp=self._next_ms(),
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=producer.sequence,
            attributes=attributes,
        )
        producer.sequence += 2
        self._produce(encode_batch(batch), producer.transaction)

    def _produce(self, records: bytes, transaction: str | None = None) -> None:
        self._send(records, self.broker.version("Produce", "3-12"), transaction)

    def _send(self, records: bytes, version: int, transaction: str | None = None) -> None:
        request = produce_request(self.topic, records, version)
        request.transactional_id = transaction

        def error() -> int:
            answer = only(self.broker.ask(request, version).responses, "topic")
            return only(answer.partition_responses, "partition").error_code

        self._until(error, "a batch is appended")

    # -- producers -----------------------------------------------------------------------------

    def _init(self, name: str | None) -> _Producer:
        if name is not None:
            find = FindCoordinatorRequest(key=name, key_type=1)
            self._until(lambda: self.broker.ask(find, 2).error_code, f"{name} has a coordinator")
        asked = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=_TIMEOUT_MS)
        made: list[_Producer] = []

        def error() -> int:
            answer = self.broker.ask(asked, 2)
            made.append(_Producer(answer.producer_id, answer.producer_epoch, transaction=name))
            return answer.error_code

        self._until(error, "there is a producer id")
        return made[-1]

    def _add(self, producer: _Producer, name: str) -> None:
        topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
            name=self.topic.name, partitions=[0]
        )
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer.id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[topic],
        )

        def error() -> int:
            (found,) = self.broker.ask(request, 3).results_by_topic_v3_and_below
            return found.results_by_partition[0].partition_error_code

        self._until(error, "the partition is in the transaction")

    def _until(self, error: Callable[[], int], what: str) -> None:
        """Ask again while the broker is not ready. Raises NotWritten, ResponseTimeout."""

        def fine() -> bool:
            code = ErrorCode(error())
            if code is not ErrorCode.NONE and code not in _BUSY:
                raise NotWritten(f"{what}: {ErrorCode.describe(code)}")
            return code is ErrorCode.NONE

        self.broker.eventually(fine, what, 60_000)
