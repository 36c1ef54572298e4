"""An idempotent producer (KIP-98): its id, and batches with sequence numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import InitProducerIdRequest, ProduceRequest, ProduceResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.structs import Message
from suites.protocol.support.appended import now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import NOT_YET

NO_TIMEOUT_MS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class IdempotentProducer:
    """Its id and epoch, as the broker gave them."""

    id: int
    epoch: int

    def batch(self, sequence: int, *values: bytes, codec: str = "none") -> bytes:
        """A record for each value; the first has this sequence number."""
        records = [Record(value) for value in values]
        batch = RecordBatch(records, base_timestamp=now_ms(), producer_id=self.id,
                            producer_epoch=self.epoch, base_sequence=sequence)  # fmt: skip
        return encode_batch(batch, codec)

    def request(self, topic: Topic, version: int, sequence: int, value: bytes) -> ProduceRequest:
        """Append a batch of one record with this sequence number."""
        return produce_request(topic, self.batch(sequence, value), version)

    def at_epoch(self, epoch: int) -> IdempotentProducer:
        """The same producer with an epoch of our choice: it raises its epoch itself (KIP-360)."""
        return IdempotentProducer(self.id, epoch)


def new_producer(broker: BrokerUnderTest) -> IdempotentProducer:
    """A producer id and its epoch, as soon as there are any to be had."""

    def made() -> IdempotentProducer | None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=NO_TIMEOUT_MS)
        answer = broker.ask(request)
        if answer.error_code in NOT_YET:
            return None
        expect_error(answer.error_code, ErrorCode.NONE, "InitProducerId")
        return IdempotentProducer(answer.producer_id, answer.producer_epoch)

    return broker.eventually(made, "there are producer ids")


def code_of(answer: Message) -> int:
    """The error code of the one partition that was produced to."""
    assert isinstance(answer, ProduceResponse)
    return only(only(answer.responses, "topic").partition_responses, "partition").error_code


def expect_taken(answer: Message, where: str, *others: ErrorCode) -> None:
    """The batch is acknowledged, or refused as a duplicate; IDEM-005 judges the choice.

    ``others``: further errors that are allowed.
    """
    expect_taken_again(code_of(answer), where, *others)


def expect_taken_again(code: int, where: str, *others: ErrorCode) -> None:
    """Do the same as :func:`expect_taken`, for an error code."""
    if code not in (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, *others):
        expect_error(code, ErrorCode.NONE, where)


def send_at_once(connection: Connection, sent: Sequence[ProduceRequest], version: int) -> None:
    """All in one write; the answers come in this order."""
    api = api_named("Produce")
    data = b""
    for correlation_id, request in enumerate(sent):
        data += frame(encode_request(request, version, correlation_id, connection.client_id))
        connection.expect_answer(api, version, correlation_id)
    connection.send_bytes(data)
