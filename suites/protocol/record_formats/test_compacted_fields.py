"""RECF: the fields of the records and batches that compaction leaves."""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    LOG_APPEND_TIME,
    Header,
    Record,
    RecordBatch,
    encode_batch,
)
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import COMPACTED_WITHIN_MS, QUICKLY, batches_of

CODECS = ["none", "gzip", "lz4"]
CONFIGS = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0"}
OLD = b"old"
HEADERS = [Header("h", b"1"), Header("h", None), Header("", b"")]
# Compaction removes the first record, the last, the others, or none; the last two are the newest.
BATCHES = [
    [Record(b"0", OLD), Record(b"a", b"first gone", HEADERS, 7), Record(b"0", OLD, [], 9)],
    [Record(b"b", b"last gone", HEADERS[:1], 0), Record(b"1", OLD, [], 4)],
    [Record(b"2", OLD, HEADERS, 3), Record(None, b"deleted", HEADERS[1:], 5)],
    [Record(b"d", b"whole", HEADERS, 2), Record(b"e", b"whole too", [], 1)],
    [Record(b"3", OLD, HEADERS, 1)],
    [Record(b"4", b"end", HEADERS, 1)],
]
ROLLED_AFTER_MS = (
    5  # where the broker's clock counts, a later batch begins a segment after segment.ms
)
LEFT = [1, 3, 6, 7, 8, 9, 10]


class Left(NamedTuple):
    """A record of a log, with the fields of its batch that a reader sees."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    time_ms: int
    codec: int
    has_append_time: bool


def _fields(batch: RecordBatch, record: Record, offset: int) -> Left:
    base_ms, is_appended = batch.base_timestamp or 0, bool(batch.attributes & LOG_APPEND_TIME)
    time_ms = (batch.max_timestamp or 0) if is_appended else base_ms + (record.timestamp_delta or 0)
    codec = batch.attributes & 7
    headers = tuple(record.headers)
    return Left(offset, record.key, record.value, headers, time_ms, codec, is_appended)


def _write(broker: BrokerUnderTest, topic: Topic, partition: int, codec: str) -> list[Left]:
    """Append all batches, each a second younger; return their records as they must be read."""
    written: list[Left] = []
    for place, records in enumerate(BATCHES):
        base_ms = now_ms() - 60_000 + place * 1_000
        made = RecordBatch(list(records), base_timestamp=base_ms)
        time.sleep(ROLLED_AFTER_MS / 1000)
        answer = broker.produce(topic, encode_batch(made, codec), partition=partition)
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")
        append_ms = answer.log_append_time_ms
        for record in records:
            time_ms = append_ms if append_ms >= 0 else base_ms + (record.timestamp_delta or 0)
            fields = record.key, record.value, tuple(record.headers), time_ms
            written.append(Left(len(written), *fields, CODEC_IDS[codec], append_ms >= 0))
    return written


def _left(broker: BrokerUnderTest, topic: Topic, partition: int) -> list[Left]:
    return [
        _fields(batch, record, batch.base_offset + (record.offset_delta or 0))
        for batch in batches_of(broker, topic, partition)
        for record in batch.records
    ]


@judges("RECF-030")
@needs_broker(Use.TUNED, QUICKLY)
def test_compaction_changes_no_field_of_records_that_stay(broker: BrokerUnderTest) -> None:
    """Alone of their batch or not, a tombstone among them, in batches of three codecs, with the
    producer's times and with the broker's."""
    broker.version("Produce", "3+")
    broker.version("Fetch", "4+")
    append_time = {**CONFIGS, "message.timestamp.type": "LogAppendTime"}
    topics = (
        broker.create_topic(len(CODECS), CONFIGS),
        broker.create_topic(len(CODECS), append_time),
    )
    logs = [(topic, place, codec) for topic in topics for place, codec in enumerate(CODECS)]
    written = [_write(broker, *log) for log in logs]
    with requirement("RECF-030"):
        for (topic, partition, codec), records in zip(logs, written, strict=True):
            found = broker.last_seen(
                lambda topic=topic, partition=partition: _left(broker, topic, partition),  # type: ignore[misc]
                lambda found: [each.offset for each in found] == LEFT,
                COMPACTED_WITHIN_MS,
            )
            expected = [each for each in records if each.offset in LEFT]
            for one, wanted in zip(found, expected, strict=False):
                assert one == wanted, f"codec {codec}: left is {one}, written was {wanted}"
            offsets = [each.offset for each in found]
            assert offsets == LEFT, f"codec {codec}: left are the offsets {offsets}, not {LEFT}"


@judges("RECF-034")
@needs_broker(Use.TUNED, QUICKLY)
def test_max_timestamp_of_changed_batch_is_largest_time_of_records_left(
    broker: BrokerUnderTest,
) -> None:
    """Compaction removes the youngest record of a batch, and another one of the next batch."""
    broker.version("Fetch", "4+")
    topic, base_ms = broker.create_topic(len(CODECS), CONFIGS), now_ms() - 60_000
    batches = (
        [Record(b"0", b"a", [], 3), Record(b"0", OLD, [], 9), Record(b"0", b"b", [], 5)],
        [Record(b"0", b"c", [], 8), Record(b"1", OLD, [], 2)],
        [Record(b"2", OLD)],
        [Record(b"3", b"end")],
    )
    for partition, codec in enumerate(CODECS):
        for place, records in enumerate(batches):
            made = RecordBatch(records, base_timestamp=base_ms + place * 1_000)
            time.sleep(ROLLED_AFTER_MS / 1000)
            append(broker, topic, encode_batch(made, codec), partition=partition)
    expected = {0: base_ms + 5, 3: base_ms + 1_008, 5: base_ms + 2_000, 6: base_ms + 3_000}
    with requirement("RECF-034") as check:
        for partition, codec in enumerate(CODECS):
            with check.subtest(f"codec {codec}"):
                left = broker.last_seen(
                    partial(_left, broker, topic, partition),
                    lambda found: [each.offset for each in found] == [0, 2, 3, 5, 6],
                    COMPACTED_WITHIN_MS,
                )
                batches_left = batches_of(broker, topic, partition)
                found = {one.base_offset: one.max_timestamp for one in batches_left}
                told = f"codec {codec}, of {len(left)} records: max timestamps"
                assert found == expected, f"{told} are {found}, expected {expected}"
