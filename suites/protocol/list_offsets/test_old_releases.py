"""LISTO: version 0, which knows segments instead of times; logs without times."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import EARLIEST, LATEST, Topic, list_offsets_request
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.log_entries import MAGIC_AT, fetched_entries
from suites.protocol.support.record_formats import encoded_for
from suites.protocol.support.topic_setting import topic_with

SEGMENT_BYTES = 1024 * 1024  # the least that every release takes
BATCHES = 3  # of three records, each batch as large as a segment may be
BEGINS = [0, 3, 6]
END = 9
WITHOUT_TIMES = "0.9.0"
DAY_MS = 24 * 60 * 60 * 1000
IDLE = 1  # a partition without records


def _three_segments(broker: BrokerUnderTest) -> Topic:
    """Partition 0 holds three batches that fill a segment each, partition IDLE nothing."""
    configs = {
        "segment.bytes": str(SEGMENT_BYTES),
        "max.message.bytes": str(2 * SEGMENT_BYTES),  # the default was less before 2.5
        "compression.type": "uncompressed",
    }
    topic = broker.create_topic(partitions=2, configs=configs)
    for _ in range(BATCHES):
        append(broker, topic, _batch_of_segment_size(broker.version("Produce")))
    return topic


def _batch_of_segment_size(version: int) -> bytes:
    """Return a batch as large as a segment, so that the next batch begins a new segment."""
    rest = [Record(b"x"), Record(b"y")]
    value_bytes = SEGMENT_BYTES - 1000
    for _ in range(2):  # the second time with what the first lacked
        records = [Record(bytes(value_bytes)), *rest]
        batch = encoded_for(version, RecordBatch(records, base_timestamp=now_ms()))
        value_bytes += SEGMENT_BYTES - len(batch)
    assert len(batch) == SEGMENT_BYTES
    return batch


def _offsets(
    broker: BrokerUnderTest, topic: Topic, time: int, most: int, version: int, partition: int = 0
) -> list[int]:
    """The list that version 0 answers with; an error fails the check."""
    request = list_offsets_request(topic, time, partition=partition)
    request.topics[0].partitions[0].max_num_offsets = most
    answer = only(only(broker.ask(request, version).topics, "topic").partitions, "partition")
    expect_error(answer.error_code, ErrorCode.NONE, f"time {time}, at most {most}")
    return list(answer.old_style_offsets)


@judges("LISTO-001")
@at_versions("ListOffsets", "0")
def test_list_offsets_v0_returns_log_end_and_log_start(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """With room for one offset: -1 is the log end, -2 the log start; of an empty log, too."""
    topic = kept.topic(broker, _three_segments)
    with requirement("LISTO-001") as check:
        for partition, end in ((0, END), (IDLE, 0)):
            with check.subtest(f"partition {partition}"):
                ends = [
                    _offsets(broker, topic, at, 1, api_version, partition)
                    for at in (EARLIEST, LATEST)
                ]
                assert ends == [[0], [end]], f"earliest and latest of {end} records are {ends}"


@judges("LISTO-002")
@at_versions("ListOffsets", "0")
def test_list_offsets_v0_returns_segment_start_offsets_newest_first(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The log end, then the begins of three segments; as many as asked for.

    An empty log has its segment alone: the log end is the same offset, and not repeated.
    """
    topic = kept.topic(broker, _three_segments)
    everything = [END, *reversed(BEGINS)]
    with requirement("LISTO-002"):
        for name, time in (("latest", LATEST), ("tomorrow", now_ms() + DAY_MS)):
            for most in (10, len(everything), 2, 1, 0):
                found = _offsets(broker, topic, time, most, api_version)
                told = f"{name}, at most {most}: offsets {found}"
                assert found == everything[:most], f"{told}, expected {everything[:most]}"
        found = _offsets(broker, topic, LATEST, 10, api_version, IDLE)
        assert found == [0], f"of an empty log the offsets are {found}, expected [0]"
        found = _offsets(broker, topic, now_ms() - DAY_MS, 10, api_version)
        assert found == [], f"yesterday there was no segment, offsets {found}"


@judges("LISTO-003")
@at_versions("ListOffsets", "0")
def test_list_offsets_v0_earliest_returns_exactly_one_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """However many offsets may come: the begin of the first segment alone."""
    topic = kept.topic(broker, _three_segments)
    with requirement("LISTO-003") as check:
        for partition in (0, IDLE):
            for most in (10, 1):
                with check.subtest(f"partition {partition}, at most {most}"):
                    found = _offsets(broker, topic, EARLIEST, most, api_version, partition)
                    assert found == [0], (
                        f"partition {partition}, at most {most}: earliest is {found}"
                    )


@judges("LISTO-015")
@at_versions("ListOffsets", "0")
def test_list_offsets_v0_begins_with_log_start_after_delete_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted inside of the first segment: the log start stands for its begin."""
    topic = _three_segments(broker)
    delete_records(broker, topic, 2)
    with requirement("LISTO-015") as check:
        for time, expected in ((EARLIEST, [2]), (LATEST, [END, *BEGINS[:0:-1], 2])):
            with check.subtest(f"time {time}"):
                found = _offsets(broker, topic, time, 10, api_version)
                assert found == expected, f"time {time}: offsets {found}, expected {expected}"


@judges("LISTO-016")
@at_versions("ListOffsets", "1+")
def test_list_offsets_in_magic_0_log_returns_unsupported_for_message_format(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The messages of a topic of magic 0 have no times; begin and end of the log need none."""
    topic = topic_with(broker, "message.format.version", WITHOUT_TIMES)
    append(broker, topic, batch_of(b"x"))
    (stored,) = fetched_entries(broker, topic)
    if stored[MAGIC_AT] > 0:
        raise NotApplicable("message.format.version", "the setting is known and changes nothing")
    request = list_offsets_request(topic, now_ms() - DAY_MS)
    with requirement("LISTO-016") as check:
        answer = only(broker.ask(request, api_version).topics, "topic")
        refusal = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
        expect_error(only(answer.partitions, "partition").error_code, refusal, "yesterday")
        for name, time, offset in (("earliest", EARLIEST, 0), ("latest", LATEST, 1)):
            with check.subtest(name):
                found = broker.list_offset(topic, time, api_version)
                expect_error(found.error_code, ErrorCode.NONE, name)
                assert found.offset == offset, f"{name} is {found.offset}, expected {offset}"
