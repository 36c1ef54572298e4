"""A transactional producer (KIP-98), request by request, and a reader of what it commits."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.coordinator import TRANSACTION, await_coordinator, coordinated_name
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
)
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from suites.durability.support.keyed import Kept, Pair, records_of_batch
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import NOT_YET
from suites.protocol.support.record_formats import batches_in

CLIENTS_OWN = "0-3"
"""Versions of AddPartitionsToTxn for clients; newer ones are for brokers."""
WITHOUT_NEW_EPOCHS = "0-4"
"""Versions of EndTxn in which transactions share an epoch; since v5 each has its own (KIP-890)."""
PLAIN_PRODUCE = "3-11"
"""Versions of Produce before v12, in which a batch adds its partition (KIP-890)."""
TIMEOUT_MS = 10 * 60_000
READ_COMMITTED = 1
AGAIN = {*NOT_YET, ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NOT_COORDINATOR}


class TransactionalProducer:
    """Writes to one partition, in one transaction after the other."""

    def __init__(self, broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> None:
        """Raises ApiNotAdvertised where the broker knows no transactions."""
        self._add_version = broker.version("AddPartitionsToTxn", CLIENTS_OWN)
        self._end_version = broker.version("EndTxn", WITHOUT_NEW_EPOCHS)
        self._produce_version = broker.version("Produce", PLAIN_PRODUCE)
        self.broker, self.topic, self.partition = broker, topic, partition
        await_coordinator(broker, TRANSACTION)
        self.id = coordinated_name(broker, TRANSACTION)
        self.sequence = 0
        self.producer_id, self.epoch = broker.eventually(self._init, "there is a producer id")

    def _init(self) -> tuple[int, int] | None:
        request = InitProducerIdRequest(transactional_id=self.id, transaction_timeout_ms=TIMEOUT_MS)
        answer = self.broker.ask(request)
        if answer.error_code in AGAIN:
            return None
        _prepared(answer.error_code, "InitProducerId")
        return answer.producer_id, answer.producer_epoch

    def begin(self) -> None:
        """Add the partition to a new transaction."""

        def added() -> bool:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.id,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[
                    AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
                        name=self.topic.name, partitions=[self.partition]
                    )
                ],
            )
            answer = self.broker.ask(request, self._add_version)
            topic = only(answer.results_by_topic_v3_and_below, "topic")
            code = only(topic.results_by_partition, "partition").partition_error_code
            if code in AGAIN:
                return False
            _prepared(code, "AddPartitionsToTxn")
            return True

        self.broker.eventually(added, "the partition is in the transaction")

    def write(self, time_ms: int, *pairs: Pair) -> None:
        """A batch of these keys and values."""
        records = [Record(value, key) for key, value in pairs]
        batch = RecordBatch(
            records,
            base_timestamp=time_ms,
            attributes=TRANSACTIONAL,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self.sequence,
        )
        self.sequence += len(pairs)
        version = self._produce_version
        request = produce_request(
            self.topic, encode_batch(batch), version, partition=self.partition
        )
        request.transactional_id = self.id
        topic = only(self.broker.ask(request, version).responses, "topic")
        _prepared(only(topic.partition_responses, "partition").error_code, "Produce")

    def end(self, *, commit: bool) -> None:
        """Commit or abort; returns when the marker is in the log."""
        before = self.broker.end_offset(self.topic, self.partition)

        def ended() -> bool:
            request = EndTxnRequest(
                transactional_id=self.id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                committed=commit,
            )
            code = self.broker.ask(request, self._end_version).error_code
            if code in AGAIN:
                return False
            _prepared(code, "EndTxn")
            return True

        self.broker.eventually(ended, "the transaction is at its end")
        self.broker.eventually(
            lambda: self.broker.end_offset(self.topic, self.partition) > before,
            "the marker is written",
        )


def committed_records(broker: BrokerUnderTest, topic: Topic) -> list[Kept]:
    """Return the records that a ``read_committed`` consumer receives.

    These are the records up to the last stable offset, without those that the responses list as
    aborted.
    """
    found: list[Kept] = []
    offset, end = 0, 1
    while offset < end:
        answer = broker.fetch(topic, offset, isolation_level=READ_COMMITTED)
        expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
        end = answer.last_stable_offset
        aborted = {
            each.producer_id: each.first_offset for each in answer.aborted_transactions or ()
        }
        batches = batches_in(record_bytes(answer))
        assert batches, f"nothing comes from offset {offset}, the last stable one is {end}"
        for batch in batches:
            offset = batch.base_offset + (batch.last_offset_delta or 0) + 1
            if batch.attributes & CONTROL:
                aborted.pop(batch.producer_id, None)
            elif aborted.get(batch.producer_id, offset) >= offset:
                found += records_of_batch(batch)
    return found


def _prepared(code: int, what: str) -> None:
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"{what}: {ErrorCode.describe(code)}", code)
