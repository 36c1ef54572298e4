"""IDEM: answers that are lost on their way to the producer."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.client.only import only
from harness.client.requests import produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import InitProducerIdRequest, ProduceResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.faults import Faults, responses
from harness.marks import at_versions, judges
from suites.protocol.appended import now_ms
from suites.protocol.expect import expect_error
from suites.protocol.partition_log import keys_and_values, stored_batches

VALUES = [b"first", b"second"]
NO_TIMEOUT_MS = 2**31 - 1
NOT_YET = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE}


def _idempotent(broker: BrokerUnderTest) -> tuple[int, int]:
    """A producer id and its epoch, as soon as there are any to be had."""

    def made() -> tuple[int, int] | None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=NO_TIMEOUT_MS)
        answer = broker.ask(request)
        if answer.error_code in NOT_YET:
            return None
        expect_error(answer.error_code, ErrorCode.NONE, "InitProducerId")
        return answer.producer_id, answer.producer_epoch

    return broker.eventually(made, "there are producer ids")


def _answer(response: ProduceResponse) -> ProduceResponse.PartitionProduceResponse:
    return only(only(response.responses, "topic").partition_responses, "partition")


@judges("IDEM-017")
@at_versions("Produce", "3-8", "9-12", "13+")
@pytest.mark.parametrize("lost", ["close", "reset"])
def test_a_retry_after_a_lost_answer_is_stored_once(
    broker: BrokerUnderTest, faults: Faults, api_version: int, lost: str
) -> None:
    """Each of two batches is appended, its answer is lost with the connection, it is sent again.

    How a repeated batch is acknowledged, IDEM-005 says; here it may be called a duplicate too.
    """
    topic = broker.create_topic()
    producer_id, epoch = _idempotent(broker)
    rule = getattr(responses("Produce").nth(1, 3), lost)("before")
    with requirement("IDEM-017"), faults.path(rule) as path:
        for sequence, value in enumerate(VALUES):
            batch = RecordBatch([Record(value)], base_timestamp=now_ms(), producer_id=producer_id,
                                producer_epoch=epoch, base_sequence=sequence)  # fmt: skip
            request = produce_request(topic, encode_batch(batch), api_version)
            with pytest.raises(ConnectionClosed):
                broker.connect(through=path.address).ask(request, api_version)
            retried = _answer(broker.connect(through=path.address).ask(request, api_version))
            if retried.error_code != ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
                expect_error(retried.error_code, ErrorCode.NONE, f"the retry of batch {sequence}")
        path.expect_fired(at_least=len(VALUES))
        stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        assert stored == VALUES, f"the log holds {stored}, expected each value once"
