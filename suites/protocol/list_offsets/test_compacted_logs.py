"""LISTO: offsets for times in batches that have lost records to compaction."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.versions import VersionRange
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import QUICKLY, await_compacted, compacted_topic
from suites.protocol.support.expect import expect_error

LIST_OFFSETS = api_named("ListOffsets")
OF_TIMES = VersionRange.parse("1+")
CODECS = ["none", "gzip", "lz4"]
BASE_MS = now_ms() - 60 * 60 * 1000
STEP_MS, BATCH_MS = 10, 1_000
OLD = b"old"  # all but the newest go
KEYS = [(OLD, b"a", OLD, b"b"), (b"c", OLD, OLD), (OLD, OLD), (OLD, b"d", OLD), (OLD,), (b"e",)]
FALLING = 3  # the batch whose records have falling times
LEFT = [1, 3, 4, 10, 12, 13]


def _times(number: int) -> list[int]:
    """The times of the records of a batch, in milliseconds after BASE_MS."""
    times = [number * BATCH_MS + place * STEP_MS for place in range(len(KEYS[number]))]
    return times[::-1] if number == FALLING else times


def _written(broker: BrokerUnderTest) -> Topic:
    """A partition for each codec, compacted: the same records are left in each of them."""
    topic = compacted_topic(broker, partitions=len(CODECS))
    for partition, codec in enumerate(CODECS):
        for number, keys in enumerate(KEYS):
            times = _times(number)
            records = [
                Record(b"value", key, timestamp_delta=at - times[0])
                for key, at in zip(keys, times, strict=True)
            ]
            batch = RecordBatch(records, base_timestamp=BASE_MS + times[0])
            append(broker, topic, encode_batch(batch, codec), partition=partition)
    await_compacted(broker, topic, dict.fromkeys(range(len(CODECS)), LEFT))
    return topic


def _left() -> list[tuple[int, int]]:
    """Offset and time of each record that stays."""
    times = [time for number in range(len(KEYS)) for time in _times(number)]
    return [(offset, times[offset]) for offset in LEFT]


def _expect(
    broker: BrokerUnderTest, topic: Topic, version: int, asked: tuple[int, int], found: object
) -> None:
    """The answer for a partition and a time has this offset and time."""
    partition, time_ms = asked
    answer = broker.list_offset(topic, time_ms, version, partition=partition)
    where = f"codec {CODECS[partition]}, time {time_ms - BASE_MS}"
    expect_error(answer.error_code, ErrorCode.NONE, where)
    after_ms = answer.timestamp if answer.timestamp < 0 else answer.timestamp - BASE_MS
    told = (answer.offset, after_ms)
    assert told == found, f"{where}: (offset, time) is {told}, expected {found}"


@judges("LISTO-018")
@needs_broker(Use.TUNED, QUICKLY)
def test_list_offsets_for_timestamp_returns_record_that_compaction_left(
    broker: BrokerUnderTest,
) -> None:
    """For the time of each record, removed or not, the first record that is left from there on."""
    versions = broker.advertised("ListOffsets") & LIST_OFFSETS.valid_versions & OF_TIMES
    broker.version("ListOffsets", str(OF_TIMES))
    topic, left = _written(broker), _left()
    probes = sorted({time + by for n in range(len(KEYS)) for time in _times(n) for by in (0, 1)})
    for version in versions:
        with requirement("LISTO-018", api_key=LIST_OFFSETS.key, api_version=version) as check:
            for partition, codec in enumerate(CODECS):
                with check.subtest(f"codec {codec}"):
                    for after_ms in probes:
                        record = next((one for one in left if one[1] >= after_ms), (-1, -1))
                        asked = (partition, BASE_MS + after_ms)
                        _expect(broker, topic, version, asked, record)
