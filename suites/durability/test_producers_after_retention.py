"""IDEM: what is known of a producer when retention has removed its records."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.durability.support.restarts import AGAIN, STOPPED
from suites.durability.support.segments import (
    HOUR_MS,
    OFTEN,
    begin_of,
    begin_once,
    topic_of_segments,
)
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import (
    IdempotentProducer,
    expect_taken_again,
    new_producer,
)

STOPS = (STOPPED, AGAIN)
PARTITIONS = 15
"""By which the defect recognizes the test of restarts; one for each stop is used."""
AGE_MS, RETENTION_MS = 3 * HOUR_MS, 2 * HOUR_MS  # a producer is forgotten after a day
END = 3


def _old(producer: IdempotentProducer, sequence: int, *values: bytes) -> bytes:
    return encode_batch(
        RecordBatch(
            [Record(value) for value in values],
            base_timestamp=now_ms() - AGE_MS,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
        )
    )


@judges("IDEM-028")
@needs_broker(Use.TUNED, OFTEN)
def test_producer_goes_on_after_retention_removed_its_records(broker: BrokerUnderTest) -> None:
    """Both batches are removed, and sent again; a gap is refused, and the next one is taken."""
    topic = topic_of_segments(broker, retention__ms=str(RETENTION_MS))
    producer = new_producer(broker)
    batches = [_old(producer, 0, b"a", b"b"), _old(producer, 2, b"c")]
    append(broker, topic, *batches)
    with requirement("IDEM-028"):
        begin = begin_once(broker, topic, END)
        assert begin == END, f"all is too old, the log begins at {begin}"
        expect_taken_again(broker.produce(topic, batches[0]).error_code, "batch 0 once more")
        expect_taken_again(broker.produce(topic, batches[1]).error_code, "batch 1 once more")
        code = broker.produce(topic, producer.batch(END + 1, b"gap")).error_code
        expect_error(code, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "a gap behind what is removed")
        end = broker.end_offset(topic)
        assert end == END, f"nothing new was sent: the log of {END} ends at {end}"
        answer = broker.produce(topic, producer.batch(END, b"next"))
        expect_error(answer.error_code, ErrorCode.NONE, "the next batch")
        assert answer.base_offset == END, f"the next batch has offset {answer.base_offset}"


@judges("IDEM-037")
@needs_broker(Use.PERSISTENT, {**BRIEF, **OFTEN})
def test_producer_without_records_goes_on_after_stops(
    persistent_broker: PersistentBroker,
) -> None:
    """Retention has removed all of its batches, a later one stays; a partition for each stop."""
    client = persistent_broker.client
    topic = topic_of_segments(client, PARTITIONS, retention__ms=str(RETENTION_MS))
    producer = new_producer(client)
    batches = [_old(producer, 0, b"a", b"b"), _old(producer, 2, b"c")]
    for partition in range(len(STOPS)):
        append(client, topic, *batches, batch_of(b"later"), partition=partition)
        begin_once(client, topic, END, partition)
    with requirement("IDEM-037") as check:
        for partition, when in enumerate(STOPS):
            persistent_broker.stop()
            persistent_broker.start()
            await_back(client, topic, partition)
            with check.subtest(when):
                _expect_goes_on(client, topic, partition, producer, batches, when)


def _expect_goes_on(
    client: BrokerUnderTest,
    topic: Topic,
    partition: int,
    producer: IdempotentProducer,
    batches: list[bytes],
    when: str,
) -> None:
    """The last batch is known, a gap is refused, the next batch is taken at the log end."""
    begin, end = begin_of(client, topic, partition), END + 1
    assert begin == END, f"{when} the old batches are removed, and the log begins at {begin}"
    again = client.produce(topic, batches[-1], partition=partition)
    expect_taken_again(again.error_code, f"{when} the last batch once more")
    gap = client.produce(topic, producer.batch(END + 1, b"gap"), partition=partition)
    expect_error(gap.error_code, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"{when} a gap")
    found = client.end_offset(topic, partition)
    assert found == end, f"{when} nothing new was sent: the log of {end} ends at {found}"
    answer = client.produce(topic, producer.batch(END, b"next"), partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, f"{when} the next batch")
    assert answer.base_offset == end, f"{when} the next batch has offset {answer.base_offset}"
