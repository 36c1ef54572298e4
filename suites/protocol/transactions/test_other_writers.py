"""TXN: a plain batch of a producer with a transaction, and markers of an admin (KIP-664)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import WriteTxnMarkersRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    aborted_in,
    fetched,
    markers_of,
)
from suites.protocol.support.transactional import TxnProducer

COORDINATOR_EPOCH = 10  # higher than that of any coordinator of the test's broker


@judges("TXN-035")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_plain_batch_of_producer_with_open_transaction_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The next sequence without the transactional bit, in the partition of the transaction.

    After the commit the same batch is accepted.
    """
    producer, topic = TxnProducer(broker, "TXN-035"), broker.create_topic()
    producer.write(topic, b"within")
    with requirement("TXN-035"):
        refused = producer.send(topic, b"plain", version=api_version, attributes=0)
        expect_error(refused.error_code, ErrorCode.INVALID_TXN_STATE, "an open transaction")
        end = broker.end_offset(topic)
        assert end == 1, f"refused, yet the log ends at {end}, expected 1"
        producer.write(topic, b"within, too")
        producer.finish(commit=True)
        taken = producer.send(topic, b"plain", version=api_version, attributes=0)
        expect_error(taken.error_code, ErrorCode.NONE, "no transaction")
        assert taken.base_offset == 3, f"no transaction: offset {taken.base_offset}, expected 3"


def _write_marker(producer: TxnProducer, topic: Topic, version: int, coordinator_epoch: int) -> int:
    """The error of one abort marker for partition 0 in the name of a coordinator."""
    marker = WriteTxnMarkersRequest.WritableTxnMarker(
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        coordinator_epoch=coordinator_epoch,
        topics=[
            WriteTxnMarkersRequest.WritableTxnMarkerTopic(name=topic.name, partition_indexes=[0])
        ],
    )
    answer = producer.connection.ask(WriteTxnMarkersRequest(markers=[marker]), version)
    found = only(only(answer.markers, "marker").topics, "topic")
    return only(found.partitions, "partition").error_code


@judges("TXN-038")
@at_versions("WriteTxnMarkers")
def test_write_txn_markers_aborts_transaction_and_fences_former_coordinator(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The marker moves the last stable offset; then an epoch below is refused, the same accepted.

    A transaction of another producer in the partition stays open.
    """
    producer, other = (TxnProducer(broker, "TXN-038") for _ in range(2))
    topic, epoch = broker.create_topic(), COORDINATOR_EPOCH
    producer.write(topic, b"hanging")
    other.write(topic, b"open")
    reading = broker.reading_version(topic)
    fenced = ErrorCode.TRANSACTION_COORDINATOR_FENCED
    with requirement("TXN-038"):
        code = _write_marker(producer, topic, api_version, epoch)
        expect_error(code, ErrorCode.NONE, "an abort")
        answer = fetched(producer, topic, reading, READ_COMMITTED)
        found = (answer.last_stable_offset, answer.high_watermark)
        assert found == (1, 3), f"an abort: (stable offset, high watermark) is {found}"
        other.finish(commit=True)
        answer = fetched(producer, topic, reading, READ_COMMITTED)
        aborted = aborted_in(answer)
        assert aborted == [(producer.id, 0)], f"the aborted transactions are {aborted}"
        code = _write_marker(producer, topic, api_version, epoch - 1)
        expect_error(code, fenced, "an epoch below")
        code = _write_marker(producer, topic, api_version, epoch)
        expect_error(code, ErrorCode.NONE, "the same epoch")
        markers = markers_of(producer, topic)
        expected = [(2, False), (3, True), (4, False)]
        assert markers == expected, f"the markers are {markers}, expected {expected}"
