"""A transactional producer, as far as a test needs one to have transactions in a log (KIP-98)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.coordinator import TRANSACTION, await_coordinator
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
)
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from suites.protocol.support.idempotent import IdempotentProducer
from suites.protocol.support.internal_topics import NOT_YET

TIMEOUT_MS = 600_000
# What a client says that adds partitions itself and goes on with its epoch (before KIP-890).
ADD, END, PRODUCE = "0-3", "0-4", "3-11"
_BUSY = {*NOT_YET, ErrorCode.NOT_COORDINATOR, ErrorCode.CONCURRENT_TRANSACTIONS}


class OpenTransaction:
    """Appends to the partitions of one topic."""

    def __init__(self, broker: BrokerUnderTest, topic: Topic) -> None:
        """Get its id, as soon as there are any to be had. Raises PreparationFailed."""
        self._broker, self._topic = broker, topic
        self._name = broker.unique_topic()
        await_coordinator(broker, TRANSACTION)
        self.producer = broker.eventually(self._made, "there are ids for transactional producers")
        self._sent: Counter[int] = Counter()

    def _made(self) -> IdempotentProducer | None:
        asked = InitProducerIdRequest(
            transactional_id=self._name, transaction_timeout_ms=TIMEOUT_MS
        )
        answer = self._broker.ask(asked, self._broker.version("InitProducerId", "0-5"))
        if answer.error_code in _BUSY:
            return None
        _expect_done("InitProducerId", answer.error_code)
        return IdempotentProducer(answer.producer_id, answer.producer_epoch)

    def append(self, partitions: Sequence[int], value: bytes, timestamp: int) -> None:
        """A batch of two records in each of these partitions, in a transaction that it begins."""
        self._broker.eventually(lambda: self._added(partitions), "a transaction begins")
        for partition in partitions:
            batch = RecordBatch(
                [Record(value), Record(value)],
                base_timestamp=timestamp,
                producer_id=self.producer.id,
                producer_epoch=self.producer.epoch,
                base_sequence=self._sent[partition],
                attributes=TRANSACTIONAL,
            )
            self._sent[partition] += 2
            version = self._broker.version("Produce", PRODUCE)
            request = produce_request(
                self._topic, encode_batch(batch), version, partition=partition
            )
            request.transactional_id = self._name
            told = only(self._broker.ask(request, version).responses, "topic")
            _expect_done("Produce", only(told.partition_responses, "partition").error_code)

    def _added(self, partitions: Sequence[int]) -> bool:
        asked = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._name,
            v3_and_below_producer_id=self.producer.id,
            v3_and_below_producer_epoch=self.producer.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
                    name=self._topic.name, partitions=list(partitions)
                )
            ],
        )
        answer = self._broker.ask(asked, self._broker.version("AddPartitionsToTxn", ADD))
        told = only(answer.results_by_topic_v3_and_below, "topic").results_by_partition
        codes = {one.partition_error_code for one in told}
        if codes & _BUSY:
            return False
        for code in codes:
            _expect_done("AddPartitionsToTxn", code)
        return True

    def end(self, *, commit: bool) -> None:
        """Decide the transaction; its markers are written some time later."""
        asked = EndTxnRequest(
            transactional_id=self._name,
            producer_id=self.producer.id,
            producer_epoch=self.producer.epoch,
            committed=commit,
        )
        answer = self._broker.ask(asked, self._broker.version("EndTxn", END))
        _expect_done("EndTxn", answer.error_code)


def _expect_done(what: str, code: int) -> None:
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"{what}: {ErrorCode.describe(code)}")
