"""Logs with all that a log can hold: codecs, headers, nulls, times, producers, segments."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.requests import EARLIEST, Topic
from harness.codec.records import Header, Record, RecordBatch, encode_batch
from harness.codec.records.batch import LOG_APPEND_TIME
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.idempotent import IdempotentProducer, new_producer

MANY, IDEMPOTENT, DELETED, EMPTY, FEW = range(5)
"""Partitions of the topic of :func:`rich_topic`; each one behind them is like FEW."""

HOUR_MS, SEGMENT_MS = 3_600_000, 60_000
SEGMENTS, BATCHES_A_SEGMENT = 3, 6
DELETED_BELOW = 4  # inside of the second batch
INSIDE_MS = (0, 700, 300)  # the times of a batch's records: the second is the largest
EARLIER_MS = 1_000
SMALL_INDEX = {"segment.ms": str(SEGMENT_MS), "index.interval.bytes": "64"}
TIMED_BY_BROKER = {"message.timestamp.type": "LogAppendTime"}
PACKED_BY_BROKER = {"compression.type": "gzip"}


def rich_logs(
    client: BrokerUnderTest, partitions: int = FEW + 1, configs: Mapping[str, str] | None = None
) -> dict[Topic, int]:
    """Create three topics with their records; return them with their numbers of partitions.

    The last one has so many ``partitions``, and these ``configs`` too.
    """
    logs = {}
    for own in (TIMED_BY_BROKER, PACKED_BY_BROKER):
        topic = client.create_topic(configs={**own, **(configs or {})})
        logs[topic] = 1
        for number, codec in enumerate(codecs(client)):
            append(client, topic, batch(number, now_ms(), codec))
    topic = client.create_topic(partitions, {**SMALL_INDEX, **(configs or {})})
    fill(client, topic, partitions)
    return {**logs, topic: partitions}


def codecs(client: BrokerUnderTest) -> list[str]:
    """Return the names of the codecs that the broker takes."""
    return codecs_of(client, client.version("Produce", "3+"))


def fill(client: BrokerUnderTest, topic: Topic, partitions: int) -> None:
    """Append records to each partition but EMPTY; the partitions are unlike each other."""
    begin_ms, names = now_ms() - HOUR_MS, codecs(client)
    for number in range(SEGMENTS * BATCHES_A_SEGMENT):
        segment = number // BATCHES_A_SEGMENT
        later = number - (number % 3 == 2)  # each third batch has the times of the one before
        time_ms = begin_ms + segment * 2 * SEGMENT_MS + later * 1_000
        codec = names[number % len(names)]
        append(client, topic, batch(number, time_ms, codec), partition=MANY)
    _fill_by_producers(client, topic, begin_ms)
    for number in range(BATCHES_A_SEGMENT):
        time_ms = begin_ms + number * SEGMENT_MS
        append(client, topic, batch(number, time_ms), partition=DELETED)
    delete_records(client, topic, DELETED_BELOW, partition=DELETED)
    for partition in range(FEW, partitions):
        append(client, topic, batch(partition, begin_ms + partition), partition=partition)


def _fill_by_producers(client: BrokerUnderTest, topic: Topic, begin_ms: int) -> None:
    """Two producers take turns, in two segments; one of them raises its epoch between these."""
    first, second = new_producer(client), new_producer(client)
    raised = first.at_epoch(first.epoch + 1)
    turns = [(first, 0), (second, 0), (first, 3), (second, 3), (raised, 0), (second, 6)]
    for number, (producer, sequence) in enumerate(turns):
        time_ms = begin_ms + number * SEGMENT_MS // 2
        made = batch(number, time_ms, producer=producer, sequence=sequence)
        append(client, topic, made, partition=IDEMPOTENT)


def batch(
    number: int,
    time_ms: int,
    codec: str = "none",
    producer: IdempotentProducer | None = None,
    sequence: int = -1,
) -> bytes:
    """Three records: one is whole, one has no key, one has no value."""
    name = b"%d" % number
    headers = [Header("first", name), Header("null"), Header("first", b"once more")]
    whole, without_key, without_value = INSIDE_MS
    records = [
        Record(b"value " * (number + 1), b"key " + name, headers, whole),
        Record(b"value of no key " + name, timestamp_delta=without_key),
        Record(None, b"key of no value " + name, headers[:1], without_value),
    ]
    made = RecordBatch(
        records,
        base_timestamp=time_ms,
        producer_id=producer.id if producer else -1,
        producer_epoch=producer.epoch if producer else -1,
        base_sequence=sequence,
    )
    return encode_batch(made, codec)


def grow(client: BrokerUnderTest, logs: Mapping[Topic, int]) -> None:
    """Append two more batches to each log but the empty one; the second has earlier times."""
    for topic, partition in partitions_of(logs):
        if partition != EMPTY:
            time_ms = now_ms()
            for each_ms in (time_ms, time_ms - EARLIER_MS):
                append(client, topic, batch(partition, each_ms), partition=partition)


def times_of(client: BrokerUnderTest, logs: Mapping[Topic, int]) -> set[int]:
    """Return the times of all records that the broker returns."""
    times = set()
    for topic, partition in partitions_of(logs):
        begin = client.list_offset(topic, EARLIEST, partition=partition).offset
        if begin == client.end_offset(topic, partition):
            continue
        for one in batches_of(client, topic, partition, begin=begin):
            if one.attributes & LOG_APPEND_TIME:
                times.add(one.max_timestamp or 0)
            else:
                times |= {one.base_timestamp + each.timestamp_delta for each in one.records}
    return times


def partitions_of(logs: Mapping[Topic, int]) -> list[tuple[Topic, int]]:
    """Return each partition of the topics."""
    return [(topic, partition) for topic, count in logs.items() for partition in range(count)]
