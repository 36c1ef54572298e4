"""COMP: a batch that the broker builds anew, as its topic has another codec, changes only in that.

The records differ in each field, so that one that is lost or moved shows.
"""

from __future__ import annotations

from dataclasses import replace

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import LOG_APPEND_TIME, Header, Record, RecordBatch, encode_batch
from harness.codec.records.conversion import timestamps_of
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import (
    IdempotentProducer,
    expect_taken_again,
    new_producer,
)
from suites.protocol.support.partition_log import stored_batches

HOUR_MS = 60 * 60 * 1000
BASE_MS = now_ms() - HOUR_MS  # not the time at which the broker appends them
BEFORE = 2  # records in front of those that a test looks at
RECORDS = (
    Record(b"whole", b"key", [Header("a", b"1"), Header("b", None), Header("a", b"")]),
    Record(None, b"without a value", timestamp_delta=7),
    Record(b"without a key", None, [Header("", b"of no name")], timestamp_delta=-5),
    Record(b"", b"", timestamp_delta=12),
    Record(b"the last one", b"key", timestamp_delta=3),
)
COUNT = len(RECORDS)
NAMES = {"none": "uncompressed"}  # of codecs, in the setting of a topic


def _sent_by(producer: IdempotentProducer, sequence: int, codec: str, first: bytes) -> bytes:
    """All of the records, in a codec; ``first`` is the value of the first one."""
    batch = RecordBatch(
        [replace(RECORDS[0], value=first), *RECORDS[1:]],
        base_timestamp=BASE_MS,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        base_sequence=sequence,
    )
    return encode_batch(batch, codec)


def _recoding(broker: BrokerUnderTest, codec: str, **configs: str) -> Topic:
    setting = {"compression.type": NAMES.get(codec, codec)}
    return broker.create_topic(configs=setting | configs)


def _whole(batch: RecordBatch) -> list[tuple[object, ...]]:
    """Everything that a consumer reads of each record: offset, time, key, value and headers."""
    return [
        (batch.base_offset + (record.offset_delta or 0), at_ms - BASE_MS, record.key, record.value,
         [(header.key, header.value) for header in record.headers])
        for record, at_ms in zip(batch.records, timestamps_of(batch), strict=True)
    ]  # fmt: skip


@judges("COMP-013")
@at_versions("Produce", "3+")
def test_recompressed_batch_keeps_records_and_producer_whole(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """From each codec to each other one; a batch lies before them."""
    codecs, producer = codecs_of(broker, api_version), new_producer(broker)
    for codec in codecs:
        topic = _recoding(broker, codec)
        append(broker, topic, batch_of(*[b"before"] * BEFORE))
        others = [other for other in codecs if other != codec]
        with requirement("COMP-013"):
            for number, other in enumerate(others):
                data = _sent_by(producer, number * COUNT, other, b"whole")
                answer = broker.produce(topic, data, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, f"{other} to {codec}")
            stored = stored_batches(broker, topic)[1:]
            assert len(stored) == len(others), f"{codec}: {len(stored)} batches of {len(others)}"
            for number, (other, batch) in enumerate(zip(others, stored, strict=True)):
                _expect_whole(batch, producer, number, f"{other} to {codec}")


def _expect_whole(
    batch: RecordBatch, producer: IdempotentProducer, number: int, where: str
) -> None:
    """The batch with this number has the records, the largest time and the producer as sent."""
    sent = RecordBatch(RECORDS, BEFORE + number * COUNT, base_timestamp=BASE_MS)
    numbered = [replace(one, offset_delta=place) for place, one in enumerate(RECORDS)]
    for found, expected in zip(_whole(batch), _whole(replace(sent, records=numbered)), strict=True):
        assert found == expected, f"{where}: record {found}, expected {expected}"
    latest = batch.max_timestamp
    assert latest == BASE_MS + 12, f"{where}: the largest time is {latest}, not {BASE_MS + 12}"
    identity = (batch.producer_id, batch.producer_epoch, batch.base_sequence)
    expected_id = (producer.id, producer.epoch, number * COUNT)
    assert identity == expected_id, f"{where}: producer {identity}, expected {expected_id}"


@judges("COMP-014")
@at_versions("Produce", "3+")
def test_recompressed_batch_sent_again_is_not_appended(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two batches, each sent again; then one with a gap, and the next one."""
    topic, producer = _recoding(broker, "gzip"), new_producer(broker)
    append(broker, topic, batch_of(*[b"before"] * BEFORE))

    def answer_to(number: int) -> tuple[int, int]:
        data = _sent_by(producer, number * COUNT, "none", b"only once")
        answer = broker.produce(topic, data, api_version)
        return answer.error_code, answer.base_offset

    with requirement("COMP-014"):
        for number, again in ((0, False), (1, False), (0, True), (1, True), (2, False)):
            where = f"batch {number}{' again' if again else ''}"
            if number == 2:
                gap = answer_to(number + 1)[0]
                expect_error(gap, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "a batch too early")
            code, offset = answer_to(number)
            (expect_taken_again if again else _expect_none)(code, where)
            first = BEFORE + number * COUNT
            if code == ErrorCode.NONE:
                assert offset == first, f"{where}: it is said to be at {offset}, not at {first}"
            end, expected = broker.end_offset(topic), BEFORE + COUNT * (2 if again else number + 1)
            assert end == expected, f"{where}: the log ends at {end}, not at {expected}"


def _expect_none(code: int, where: str) -> None:
    expect_error(code, ErrorCode.NONE, where)


@judges("COMP-015")
@at_versions("Produce", "3+")
def test_recompressed_batch_of_log_append_time_topic_has_time_of_broker(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """From each codec to another one: the time of the answer, and the bit in the attributes."""
    producer = new_producer(broker)
    for codec in codecs_of(broker, api_version):
        to = "lz4" if codec == "gzip" else "gzip"
        topic = _recoding(broker, to, **{"message.timestamp.type": "LogAppendTime"})
        with requirement("COMP-015"):
            data = _sent_by(producer, 0, codec, b"stamped")
            answer = broker.produce(topic, data, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"{codec} to {to}")
            appended_ms = answer.log_append_time_ms
            assert appended_ms > BASE_MS + 12, f"{codec} to {to}: the answer says {appended_ms}"
            (batch,) = stored_batches(broker, topic)
            assert batch.attributes & LOG_APPEND_TIME, f"{codec} to {to}: the bit is not set"
            stored_ms = batch.max_timestamp
            assert stored_ms == appended_ms, (
                f"{codec} to {to}: stored is {stored_ms}, the answer says {appended_ms}"
            )
