"""TIME, COMP: a changed config of a topic in use."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import CODEC_MASK, LOG_APPEND_TIME, Record, RecordBatch
from harness.codec.records.compression import CODEC_IDS
from harness.codec.records.conversion import timestamps_of
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.compacted import batches_of
from suites.protocol.support.config_admin import TOPIC, replace_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.log_entries import fetched_entries
from suites.protocol.support.old_messages import read_message
from suites.protocol.support.record_formats import encoded_for

TIME_TYPE = "message.timestamp.type"
SENT_MS = now_ms() - 60 * 60 * 1000
AFTER_MS = (0, 7, 3)  # times of the records of a batch, not in order


def _append(
    broker: BrokerUnderTest, topic: Topic, version: int, value: bytes, codec: str = "none"
) -> int:
    """Append a batch; return the log_append_time of the answer."""
    records = [Record(value, b"key", timestamp_delta=after) for after in AFTER_MS]
    batch = encoded_for(version, RecordBatch(records, base_timestamp=SENT_MS), codec)
    answer = broker.produce(topic, batch, version)
    expect_error(answer.error_code, ErrorCode.NONE, "Produce")
    return answer.log_append_time_ms


def _change(broker: BrokerUnderTest, topic: Topic, name: str, value: str) -> None:
    code = replace_all(broker, (TOPIC, topic.name), {name: value})
    expect_error(code, ErrorCode.NONE, f"{name}={value}")


@judges("TIME-011")
@pytest.mark.parametrize("first", ["CreateTime", "LogAppendTime"])
@at_versions("Produce", "3+")
def test_changed_timestamp_type_holds_for_later_batches_alone(
    broker: BrokerUnderTest, api_version: int, first: str
) -> None:
    """A batch before the change and one after it: times, bit 3, and log_append_time of each.

    Releases with a ZooKeeper may append some batches before the change reaches the log.
    """
    topic = broker.create_topic(configs={TIME_TYPE: first})
    with requirement("TIME-011") as check:
        told = _append_around_change(broker, topic, api_version, first)
        for at, (append_ms, batch) in enumerate(zip(told, batches_of(broker, topic), strict=True)):
            with check.subtest(f"batch {at}"):
                _expect_times(batch, append_ms, f"{first} at first, log_append_time {append_ms}")


def _append_around_change(
    broker: BrokerUnderTest, topic: Topic, version: int, first: str
) -> list[int]:
    """Append a batch under the first type, and others until one has the other type.

    Return the log_append_time of each.
    """
    is_last_appended = first == "CreateTime"
    told = [_append(broker, topic, version, b"typed")]

    def takes_effect() -> bool:
        told.append(_append(broker, topic, version, b"typed"))
        return (told[-1] >= 0) == is_last_appended

    _change(broker, topic, TIME_TYPE, "LogAppendTime" if is_last_appended else "CreateTime")
    broker.eventually(takes_effect, "log_append_time shows the changed type")
    assert (told[0] >= 0) != is_last_appended, f"log_append_time of the first is {told[0]}"
    return told


@judges("TIME-011")
@pytest.mark.parametrize("first", ["CreateTime", "LogAppendTime"])
@at_versions("ListOffsets", "1+")
def test_list_offsets_reads_each_batch_by_its_own_timestamp_type(
    broker: BrokerUnderTest, api_version: int, first: str
) -> None:
    """Of the times of all records, and a millisecond later, each finds the first that is not
    earlier: of the producer before the change and of the broker after it, or the reverse."""
    topic = broker.create_topic(configs={TIME_TYPE: first})
    with requirement("TIME-011") as check:
        told = _append_around_change(broker, topic, broker.version("Produce", "3+"), first)
        times = [time for append_ms in told for time in _times_of_records(append_ms)]
        for time_ms in sorted({time + by for time in times for by in (0, 1)}):
            place = next(((at, one) for at, one in enumerate(times) if one >= time_ms), (-1, -1))
            where = f"{first} at first, the times of the records are {times}, asked is {time_ms}"
            with check.subtest(f"{time_ms - SENT_MS} ms after the producer's time"):
                answer = broker.list_offset(topic, time_ms, api_version)
                expect_error(answer.error_code, ErrorCode.NONE, where)
                found = (answer.offset, answer.timestamp)
                assert found == place, f"{where}: (offset, time) is {found}, expected {place}"


def _times_of_records(append_ms: int) -> list[int]:
    """The times of the records of a batch, by the log_append_time of its answer."""
    return [append_ms if append_ms >= 0 else SENT_MS + after for after in AFTER_MS]


@judges("TIME-011")
@pytest.mark.parametrize("first", ["CreateTime", "LogAppendTime"])
@at_versions("Fetch", "2-3")
def test_down_conversion_gives_each_message_timestamp_type_of_its_batch(
    broker: BrokerUnderTest, api_version: int, first: str
) -> None:
    """Magic 1: the time and bit 3 of the messages of each batch, before the change and after."""
    topic = broker.create_topic(configs={TIME_TYPE: first})
    with requirement("TIME-011") as check:
        told = _append_around_change(broker, topic, broker.version("Produce", "3+"), first)
        for at, append_ms in enumerate(told):
            with check.subtest(f"batch {at}"):
                begin = at * len(AFTER_MS)
                entries = fetched_entries(broker, topic, api_version, offset=begin)
                messages = [read_message(entry) for entry in entries][: len(AFTER_MS)]
                found = [
                    (one.timestamp, bool(one.attributes & LOG_APPEND_TIME)) for one in messages
                ]
                expected = [(time, append_ms >= 0) for time in _times_of_records(append_ms)]
                where = f"{first} at first, log_append_time {append_ms}"
                assert found == expected, f"{where}: (time, bit 3) are {found}, not {expected}"


def _expect_times(batch: RecordBatch, append_ms: int, where: str) -> None:
    """The batch has the broker's time if its log_append_time is one, else those of the producer."""
    is_appended = append_ms >= 0
    assert bool(batch.attributes & LOG_APPEND_TIME) == is_appended, (
        f"{where}: the attributes are {batch.attributes:#x}"
    )
    expected = _times_of_records(append_ms)
    found = list(timestamps_of(batch))
    assert found == expected, f"{where}: the times are {found}, not {expected}"


@judges("COMP-016")
@at_versions("Produce", "3+")
def test_changed_compression_type_holds_for_later_batches_alone(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """From the producer's codec to gzip, to none, and back: each batch keeps its codec."""
    topic = broker.create_topic(configs={"compression.type": "producer"})
    seen: list[int] = []

    def appended_as(codec: str) -> bool:
        _append(broker, topic, api_version, b"coded", "lz4")
        seen.append(batches_of(broker, topic)[-1].attributes & CODEC_MASK)
        return seen[-1] == CODEC_IDS[codec]

    with requirement("COMP-016"):
        for setting, codec in (
            ("producer", "lz4"), ("gzip", "gzip"), ("uncompressed", "none"), ("producer", "lz4"),
        ):  # fmt: skip
            _change(broker, topic, "compression.type", setting)
            what = f"compression.type={setting} gives {codec}"
            broker.eventually(lambda codec=codec: appended_as(codec), what)  # type: ignore[misc]
        found = [batch.attributes & CODEC_MASK for batch in batches_of(broker, topic)]
        assert found == seen, f"the codecs are {found}, at first they were {seen}"
