"""IDEM: the state of producers that each partition keeps, and for how long (KIP-664, KIP-854)."""

from __future__ import annotations

import itertools
import time

import pytest

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.growing_pause import GrowingPause
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeProducersRequest, DescribeProducersResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import (
    code_of,
    expect_taken_again,
    new_producer,
    send_at_once,
)
from suites.protocol.support.partition_log import UntouchedLog, keys_and_values, stored_batches

EXPIRATION_MS, CHECK_INTERVAL_MS = 500, 100
LONGER_MS = 4_000  # a quarter of it is more than a batch takes
IN_FLIGHT = [b"%d" % number for number in range(5)]
DAMAGED = 1
MANY = 30
NO_TRANSACTION = NO_COORDINATOR = -1
HOUR_MS = 60 * 60 * 1000
ProducerState = DescribeProducersResponse.ProducerState


def expiring_after(idle_ms: int) -> dict[str, str]:
    """Settings of a broker that forgets producers after ``idle_ms`` without a batch."""
    return {
        "producer.id.expiration.ms": str(idle_ms),
        "producer.id.expiration.check.interval.ms": str(CHECK_INTERVAL_MS),
    }


@judges("IDEM-013")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_producer_sequences_are_independent_per_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The same sequence in two partitions is no duplicate; one goes on, the other does not.

    How a repeated batch is acknowledged, IDEM-005 says; here it may be called a duplicate too.
    Only the last of each partition is repeated: 0.11 remembers no other.
    """
    topic, producer = broker.create_topic(partitions=2), new_producer(broker)
    sent = [(0, 0, b"a"), (1, 0, b"b"), (0, 1, b"c"), (0, 2, b"d"), (1, 1, b"e")]
    with requirement("IDEM-013"):
        for partition, sequence, value in sent:
            batch = producer.batch(sequence, value)
            answer = broker.produce(topic, batch, api_version, partition=partition)
            where = f"partition {partition}, sequence {sequence}"
            expect_error(answer.error_code, ErrorCode.NONE, where)
        for partition, sequence, value in sent[-2:]:
            batch = producer.batch(sequence, value)
            answer = broker.produce(topic, batch, api_version, partition=partition)
            where = f"partition {partition}, sequence {sequence} once more"
            expect_taken_again(answer.error_code, where)
        for partition, expected in ((0, [b"a", b"c", b"d"]), (1, [b"b", b"e"])):
            stored = [v for _, v in keys_and_values(stored_batches(broker, topic, partition))]
            assert stored == expected, f"partition {partition} holds {stored}, sent was {expected}"


@judges("IDEM-029")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_raised_epoch_fences_the_lower_one_in_its_partition_alone(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Epoch 1 writes to partition 1; epoch 0 goes on in partition 0 and begins in partition 2.

    In partition 1 it is refused.
    """
    topic, producer = broker.create_topic(partitions=3), new_producer(broker)
    append(broker, topic, producer.batch(0, b"before"))
    append(broker, topic, producer.at_epoch(1).batch(0, b"raised"), partition=1)
    expected = {
        (0, 1): (ErrorCode.NONE, 1),
        (1, 1): (ErrorCode.INVALID_PRODUCER_EPOCH, -1),
        (2, 0): (ErrorCode.NONE, 0),
    }
    with requirement("IDEM-029") as check:
        for (partition, sequence), outcome in expected.items():
            where = f"epoch 0, sequence {sequence} in partition {partition}, epoch 1 in another"
            with check.subtest(f"partition {partition}"):
                batch = producer.batch(sequence, b"at epoch 0")
                answer = broker.produce(topic, batch, api_version, partition=partition)
                expect_error(answer.error_code, outcome[0], where)
                at = answer.base_offset
                assert at == outcome[1], f"{where}: base offset is {at}, expected {outcome[1]}"


@judges("IDEM-014")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_producer_continues_sequence_after_delete_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted behind its only batch, and then behind two of them; each time a gap comes first."""
    topic, producer = broker.create_topic(), new_producer(broker)
    append(broker, topic, producer.batch(0, b"a", b"b"))
    log = UntouchedLog(broker, topic)
    for end, values in ((2, [b"c"]), (3, [b"d", b"e"])):
        delete_records(broker, topic, end)
        with requirement("IDEM-014"):
            gap, where = producer.batch(end + 1, b"gap"), f"sequence {end + 1} behind {end} deleted"
            log.expect_refusal(gap, api_version, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, where)
            answer = broker.produce(topic, producer.batch(end, *values), api_version)
            where = f"sequence {end} where all records below are deleted"
            expect_error(answer.error_code, ErrorCode.NONE, where)
            assert answer.base_offset == end, f"{where}: stored at offset {answer.base_offset}"


@judges("IDEM-022")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_resent_batch_is_not_appended_after_delete_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Both batches of a producer are deleted, and sent again: the log stays empty."""
    topic, producer = broker.create_topic(), new_producer(broker)
    batches = [producer.batch(0, b"a", b"b"), producer.batch(2, b"c")]
    append(broker, topic, *batches)
    delete_records(broker, topic, 3)
    with requirement("IDEM-022"):
        for number, batch in enumerate(batches):
            where = f"deleted batch {number} once more"
            expect_taken_again(broker.produce(topic, batch, api_version).error_code, where)
            end = broker.end_offset(topic)
            assert end == 3, f"{where}: the log of 3 ends at {end}"


@judges("IDEM-015")
@needs_broker(Use.OWN, expiring_after(EXPIRATION_MS))
def test_sequence_gap_is_accepted_after_producer_id_expiration(broker: BrokerUnderTest) -> None:
    """Sequence 100 is accepted behind sequence 0, as soon as the producer is forgotten."""
    topic, producer = broker.create_topic(), new_producer(broker)
    append(broker, topic, producer.batch(0, b"before"))
    refused: list[str] = []

    def accepted() -> bool:
        code = broker.produce(topic, producer.batch(100, b"after")).error_code
        if code != ErrorCode.NONE:
            refused.append(ErrorCode.describe(code))
        return code == ErrorCode.NONE

    with requirement("IDEM-015"):
        broker.eventually(accepted, f"a producer that wrote nothing for {EXPIRATION_MS} ms may "
                          "start anywhere")  # fmt: skip
        strange = set(refused) - {ErrorCode.describe(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)}
        assert not strange, f"until it is forgotten, a gap is {strange}"
        values = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        assert values == [b"before", b"after"], f"the log holds {values}"


@judges("IDEM-015")
@needs_broker(Use.OWN, expiring_after(LONGER_MS))
def test_producer_that_continues_to_write_is_not_forgotten(broker: BrokerUnderTest) -> None:
    """Batches for twice the expiration time: sequence 1,000,000 behind them is still a gap.

    On a slow machine a producer is idle between two batches: then another one begins.
    """
    topic = broker.create_topic()
    written = broker.last_seen(
        lambda: _write_up_to_gap(broker, topic),
        lambda found: found is not None,
        within_ms=10 * LONGER_MS,
    )
    if written is None:
        raise Inconclusive(f"one of the batches took more than {LONGER_MS / 4:.0f} ms")
    batches, error = written
    with requirement("IDEM-015"):
        where = f"a gap behind {batches} batches"
        expect_error(error, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, where)


def _write_up_to_gap(broker: BrokerUnderTest, topic: Topic) -> tuple[int, int] | None:
    """A new producer writes for twice the expiration time, and then one batch behind a gap.

    Return the number of batches before the gap and the error code of the one behind it; None if
    the producer was idle for a quarter of the expiration time.
    """
    producer, batches, pause = new_producer(broker), 0, GrowingPause()
    error: int | None = None
    begin = sent = time.monotonic()
    while error is None:
        if sent - begin < 2 * LONGER_MS / 1000:
            append(broker, topic, producer.batch(batches, b"active"))
            batches += 1
            pause.sleep()
        else:
            error = broker.produce(topic, producer.batch(1_000_000, b"after a gap")).error_code
        previous, sent = sent, time.monotonic()
        if sent - previous > LONGER_MS / 4 / 1000:
            return None
    return batches, error


@judges("IDEM-032")
@needs_broker(Use.TUNED, expiring_after(EXPIRATION_MS))
def test_describe_producers_does_not_list_expired_producer(broker: BrokerUnderTest) -> None:
    """A producer that wrote one batch goes from the list, and comes back with its next batch."""
    topic, producer = broker.create_topic(), new_producer(broker)
    version = broker.version("DescribeProducers")

    def listed() -> list[int]:
        return [one.producer_id for one in _described(broker, topic, version, 0)[0]]

    append(broker, topic, producer.batch(0, b"before"))
    with requirement("IDEM-032"):
        found = broker.last_seen(listed, lambda ids: not ids)
        assert found == [], f"idle for longer than {EXPIRATION_MS} ms, listed are {found}"
        sequences = itertools.count(1)

        def listed_after_a_batch() -> list[int]:
            append(broker, topic, producer.batch(next(sequences), b"after"))
            return listed()

        found = broker.last_seen(listed_after_a_batch, bool)
        assert found == [producer.id], f"right after another batch listed are {found}"


@judges("IDEM-018")
@at_versions("Produce", "3-8", "9-12", "13+")
def test_batches_sent_after_corrupt_batch_return_out_of_order_sequence_number(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of five in flight on one connection the second is damaged; then all four are sent again."""
    topic, producer = broker.create_topic(), new_producer(broker)
    sent = [producer.request(topic, api_version, *each) for each in enumerate(IN_FLIGHT)]
    damaged = producer.request(topic, api_version, DAMAGED, IN_FLIGHT[DAMAGED])
    entry = damaged.topic_data[0].partition_data[0]
    assert entry.records is not None
    entry.records = entry.records[:-1] + b"\x7f"  # the last byte counts headers
    expected = [
        ErrorCode.NONE,
        ErrorCode.CORRUPT_MESSAGE,
        *[ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER] * 3,
    ]
    connection = broker.connect()
    with requirement("IDEM-018"):
        send_at_once(connection, [sent[0], damaged, *sent[2:]], api_version)
        for sequence, code in enumerate(expected):
            expect_error(code_of(connection.receive()), code, f"sequence {sequence} in flight")
        send_at_once(connection, sent[DAMAGED:], api_version)
        for sequence in range(DAMAGED, len(sent)):
            where = f"sequence {sequence} once more"
            expect_error(code_of(connection.receive()), ErrorCode.NONE, where)
        stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        assert stored == IN_FLIGHT, f"stored as {stored}"


def _described(
    broker: BrokerUnderTest, topic: Topic, version: int, *partitions: int
) -> dict[int, list[ProducerState]]:
    """The producers of each of these partitions, all of one request."""
    entry = DescribeProducersRequest.TopicRequest(
        name=topic.name, partition_indexes=list(partitions)
    )
    answer = broker.ask(DescribeProducersRequest(topics=[entry]), version)
    found = {}
    for partition in only(answer.topics, "topic").partitions:
        where = f"DescribeProducers, partition {partition.partition_index}"
        expect_error(partition.error_code, ErrorCode.NONE, where)
        found[partition.partition_index] = partition.active_producers
    assert found.keys() == {*partitions}, f"partitions {[*found]} are answered, not {partitions}"
    return found


@judges("IDEM-019")
@at_versions("DescribeProducers", "0+")
def test_describe_producers_lists_active_producers_of_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The lists are empty at first; then each partition of a request has its own producers."""
    topic = broker.create_topic(partitions=3)
    one, two, elsewhere = (new_producer(broker) for _ in range(3))
    raised = two.at_epoch(1)
    with requirement("IDEM-019"):
        described = _described(broker, topic, api_version, 1, 0)
        assert described == {0: [], 1: []}, "no producer has written yet"
    append(broker, topic, one.batch(0, b"a", b"b"), one.batch(2, b"c"), two.batch(0, b"d"))
    append(broker, topic, raised.batch(0, b"e", b"f"))
    append(broker, topic, elsewhere.batch(0, b"x"), partition=1)
    expected = {
        0: {(one.id, one.epoch, 2, NO_TRANSACTION), (two.id, 1, 1, NO_TRANSACTION)},
        1: {(elsewhere.id, elsewhere.epoch, 0, NO_TRANSACTION)},
        2: set(),
    }
    with requirement("IDEM-019") as check:
        described = _described(broker, topic, api_version, 2, 1, 0)
        for partition, producers in sorted(described.items()):
            with check.subtest(f"partition {partition}"):
                found = {
                    (p.producer_id, p.producer_epoch, p.last_sequence, p.current_txn_start_offset)
                    for p in producers
                }
                told = f"(id, epoch, last sequence, transaction start): {found}"
                assert found == expected[partition], f"partition {partition}, {told}"


@judges("IDEM-019")
@at_versions("DescribeProducers", "0+")
def test_describe_producers_lists_each_of_many_producers(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """More producers than a first page would have, each with another number of records."""
    topic = broker.create_topic()
    producers = [new_producer(broker) for _ in range(MANY)]
    for count, producer in enumerate(producers, 1):
        append(broker, topic, producer.batch(0, *[b"one of many"] * count))
    with requirement("IDEM-019"):
        described = _described(broker, topic, api_version, 0)[0]
        found = sorted((one.producer_id, one.last_sequence) for one in described)
        expected = sorted((one.id, last) for last, one in enumerate(producers))
        assert found == expected, f"{MANY} producers wrote, (id, last sequence): {found}"


@judges("IDEM-024")
@pytest.mark.parametrize("compression", ["none", "gzip"])
@at_versions("DescribeProducers", "0+")
def test_describe_producers_returns_largest_time_of_last_batch(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """A batch with a time in its middle that is the largest; then one of earlier times.

    The first batch once more is no new one: it changes nothing.
    """
    topic, producer = broker.create_topic(), new_producer(broker)
    base_ms, sequence, sent = now_ms() - HOUR_MS, 0, list[bytes]()
    for times in ((5000, 9000, 7000), (1000, 3000, 2000)):
        records = [Record(b"timed", timestamp_delta=at - times[0]) for at in times]
        batch = RecordBatch(
            records,
            base_timestamp=base_ms + times[0],
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
        )
        sent.append(encode_batch(batch, compression))
        sequence += len(times)
        append(broker, topic, sent[-1], *sent[:-1])
        with requirement("IDEM-024"):
            one = only(_described(broker, topic, api_version, 0)[0], "producer")
            found = (one.last_timestamp - base_ms, one.coordinator_epoch)
            told = f"times {times}: (last timestamp, coordinator epoch) is {found}"
            assert found == (max(times), NO_COORDINATOR), told


@judges("IDEM-024")
@at_versions("DescribeProducers", "0+")
def test_describe_producers_returns_time_of_broker_on_log_append_time_topic(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The producer sends the time of an hour ago; shown is the log_append_time of its answer."""
    topic = broker.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
    producer, sent_ms = new_producer(broker), now_ms() - HOUR_MS
    batch = RecordBatch([Record(b"stamped")], base_timestamp=sent_ms, producer_id=producer.id,
                        producer_epoch=producer.epoch, base_sequence=0)  # fmt: skip
    answer = broker.produce(topic, encode_batch(batch))
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")
    with requirement("IDEM-024"):
        one = only(_described(broker, topic, api_version, 0)[0], "producer")
        told = (
            f"last timestamp is {one.last_timestamp}, log_append_time {answer.log_append_time_ms}"
        )
        assert one.last_timestamp == answer.log_append_time_ms, told
