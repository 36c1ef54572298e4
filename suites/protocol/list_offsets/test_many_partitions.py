"""LISTO: a request about many partitions, and the leader epoch of each kind of answer."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import EARLIEST, LATEST, MAX_TIMESTAMP, Topic, list_offsets_of
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch

BASE_MS = now_ms() - 3_600_000  # of today, and not in the future of a clock that is behind
STEP_MS = 100  # from record to record
FIRST_WITH_MAX_TIMESTAMP = 7
MISSING = 999
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _timed(count: int) -> bytes:
    records = [Record(b"timed", timestamp_delta=STEP_MS * number) for number in range(count)]
    return encode_batch(RecordBatch(records, base_timestamp=BASE_MS))


def _filled(broker: BrokerUnderTest, *counts: int) -> Topic:
    """One batch with so many records in each partition, STEP_MS apart from each other."""
    topic = broker.create_topic(partitions=len(counts))
    for partition, count in enumerate(counts):
        append(broker, topic, _timed(count), partition=partition)
    return topic


def _three_partitions(broker: BrokerUnderTest) -> Topic:
    return _filled(broker, 3, 4, 5)


def _two_partitions(broker: BrokerUnderTest) -> Topic:
    return _filled(broker, 6, 7)


@judges("LISTO-017")
@at_versions("ListOffsets", "1+")
def test_each_partition_of_list_offsets_has_own_timestamp_and_error(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two topics with other times for each partition, one partition and one topic unknown."""
    one, two = kept.topic(broker, _three_partitions), kept.topic(broker, _two_partitions)
    nowhere = broker.unique_topic()
    step, nothing = STEP_MS, (-1, -1)
    expected: dict[str, dict[int, tuple[int, ErrorCode, tuple[int, int]]]] = {
        one.name: {
            2: (BASE_MS + step, ErrorCode.NONE, (1, BASE_MS + step)),
            MISSING: (LATEST, UNKNOWN, nothing),
            0: (LATEST, ErrorCode.NONE, (3, -1)),
            1: (BASE_MS + 2 * step, ErrorCode.NONE, (2, BASE_MS + 2 * step)),
        },
        nowhere: {0: (EARLIEST, UNKNOWN, nothing)},
        two.name: {
            1: (LATEST, ErrorCode.NONE, (7, -1)),
            0: (EARLIEST, ErrorCode.NONE, (0, -1)),
        },
    }
    request = ListOffsetsRequest(replica_id=-1)
    for name, partitions in expected.items():
        wanted = [
            ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=time)
            for index, (time, _, _) in partitions.items()
        ]
        request.topics.append(ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=wanted))
    with requirement("LISTO-017") as check:
        response = broker.ask(request, api_version)
        found = {
            (topic.name, answer.partition_index): answer
            for topic in response.topics
            for answer in topic.partitions
        }
        for name, partitions in expected.items():
            for index, (time, code, place) in partitions.items():
                where = f"partition {index} of {len(partitions)}, time {time}"
                with check.subtest(f"partition {index} of {len(partitions)}"):
                    assert (name, index) in found, f"{where}: it is not answered"
                    answer = found[name, index]
                    expect_error(answer.error_code, code, where)
                    told = (answer.offset, answer.timestamp)
                    assert told == place, f"{where}: (offset, time) is {told}, expected {place}"


@judges("LISTO-017")
@at_versions("ListOffsets", "0", "1+")
def test_topic_in_two_entries_of_list_offsets_is_answered_for_both(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One entry has partitions 2 and 0, the other one 1, with another topic between them."""
    twice, between = kept.topic(broker, _three_partitions), kept.topic(broker, _two_partitions)
    request = ListOffsetsRequest(replica_id=-1)
    for topic, indexes in ((twice, (2, 0)), (between, (1,)), (twice, (1,))):
        request.topics += list_offsets_of({topic: indexes}, LATEST).topics
    for entry in request.topics:
        for asked in entry.partitions:
            asked.max_num_offsets = 1
    with requirement("LISTO-017"):
        found = {
            (topic.name, one.partition_index): (one.error_code, _offset(one, api_version))
            for topic in broker.ask(request, api_version).topics
            for one in topic.partitions
        }
        ends = {(twice.name, 2): 5, (twice.name, 0): 3, (between.name, 1): 7, (twice.name, 1): 4}
        expected = {key: (ErrorCode.NONE, end) for key, end in ends.items()}
        told = f"partitions of three entries: errors and ends are {found}, expected {expected}"
        assert found == expected, told


def _offset(told: ListOffsetsResponse.ListOffsetsPartitionResponse, version: int) -> int:
    """The only offset of a result; version 0 has a list of them."""
    return told.offset if version else only(told.old_style_offsets, "offset")


@judges("LISTO-010")
@at_versions("ListOffsets", "4+")
def test_list_offsets_returns_leader_epoch_of_partition_that_was_led_once(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """For both ends and for times, before and behind a deletion inside the only batch."""
    topic = _filled(broker, 5)
    epoch = told_leader_epoch(broker, topic)
    times = {"end": LATEST, "start": EARLIEST, "time of a record": BASE_MS + 3 * STEP_MS}
    times |= {"largest time": MAX_TIMESTAMP} if api_version >= FIRST_WITH_MAX_TIMESTAMP else {}
    for deleted_below in (0, 2):
        if deleted_below:
            delete_records(broker, topic, deleted_below)
        with requirement("LISTO-010") as check:
            for name, time in times.items():
                with check.subtest(f"{name}, below {deleted_below} deleted"):
                    answer = broker.list_offset(topic, time, api_version)
                    where = f"records below {deleted_below} deleted, time {time}"
                    expect_error(answer.error_code, ErrorCode.NONE, where)
                    told = f"{where}: leader epoch {answer.leader_epoch}, in Metadata {epoch}"
                    assert answer.leader_epoch == epoch, told
