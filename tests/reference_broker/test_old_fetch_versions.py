"""Old fetches of topics that store zstd, and what a topic's own codec does to producers' fields."""

from __future__ import annotations

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, ProduceRequest, ProduceResponse
from harness.codec.records import TRANSACTIONAL, Record, RecordBatch, encode_batch
from tests.reference_broker.running import create_topic, running_broker

TOPIC = "t"
NONE, REFUSED = ErrorCode.NONE, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
UNFORESEEN = ErrorCode.UNKNOWN_SERVER_ERROR
RECORD = Record(b"v")


def produced(
    asking: Connection, batch: RecordBatch, transactional_id: str | None = None
) -> ProduceResponse.PartitionProduceResponse:
    data = ProduceRequest.PartitionProduceData(index=0, records=encode_batch(batch, "snappy"))
    to = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    asked = ProduceRequest(
        transactional_id=transactional_id, acks=1, timeout_ms=1000, topic_data=[to]
    )
    (topic,) = asking.ask(asked, 7).responses
    (partition,) = topic.partition_responses
    return partition


def fetched_errors(address: tuple[str, int], version: int) -> list[int]:
    """The errors of offset 0 and of an offset that is out of range."""
    parts = [
        FetchRequest.FetchPartition(partition=index, fetch_offset=index, partition_max_bytes=1000)
        for index in (0, 1)
    ]
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=parts)
    asked = FetchRequest(max_bytes=1000, session_epoch=-1, topics=[topic])
    with Connection(address) as asking:
        (answered,) = asking.ask(asked, version).responses
    return [part.error_code for part in answered.partitions]


@pytest.mark.parametrize(("like", "refusing"), [("2.8.2", 9), ("3.9.2", 9), ("", 3)])
def test_topic_in_zstd_is_refused_below_fetch_10_and_since_4_0_below_fetch_4(
    like: str, refusing: int
) -> None:
    """Source: class KafkaApis (maybeConvertFetchedData). The refusal goes before other errors."""
    with running_broker(like=like) as address:
        create_topic(address, TOPIC, partitions=2, compression_type="zstd")
        with Connection(address) as asking:
            assert produced(asking, RecordBatch([RECORD])).error_code == NONE
        refused = [fetched_errors(address, version) for version in (0, 3, refusing)]
        read = fetched_errors(address, refusing + 1)
    assert refused == [[REFUSED, REFUSED]] * 3
    assert read == [NONE, ErrorCode.OFFSET_OUT_OF_RANGE]


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (RecordBatch([RECORD], producer_id=5, producer_epoch=0, base_sequence=0), NONE),
        (RecordBatch([RECORD], producer_id=5, producer_epoch=-1, base_sequence=0), UNFORESEEN),
        (RecordBatch([RECORD], producer_id=-2, producer_epoch=0, base_sequence=0), NONE),
        (RecordBatch([RECORD], producer_id=-2, producer_epoch=0, base_sequence=-1), UNFORESEEN),
        (RecordBatch([RECORD], attributes=TRANSACTIONAL), UNFORESEEN),
    ],
)
def test_topic_with_another_codec_refuses_producers_that_cannot_be_written(
    sent: RecordBatch, error: ErrorCode
) -> None:
    """Source: class MemoryRecordsBuilder (validateProducerState); 4.4.0 and 3.9.2 respond so."""
    with running_broker() as address:
        create_topic(address, TOPIC, compression_type="gzip")
        with Connection(address) as asking:
            part = produced(asking, sent, "transaction")
    assert (part.error_code, part.log_start_offset) == (error, 0)
