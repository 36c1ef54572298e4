"""LISTO: offsets for times, and for the special times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    Topic,
    list_offsets_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsRequest
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.marks import at_versions, judges
from suites.protocol.appended import append, batch_of, now_ms
from suites.protocol.expect import expect_error
from suites.protocol.kept_topics import KeptTopics

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
EARLIEST_LOCAL, LATEST_TIERED = -4, -5
LAST_HOUR_MS = 3_600_000


def _timed(base_ms: int, after_ms: Sequence[int], compression: str = "none") -> bytes:
    """A batch with a record at each time, given in milliseconds after ``base_ms``."""
    first = after_ms[0]
    records = [Record(b"at %d" % after, timestamp_delta=after - first) for after in after_ms]
    return encode_batch(RecordBatch(records, base_timestamp=base_ms + first), compression)


def _expect(
    broker: BrokerUnderTest, topic: Topic, version: int, asked: int, expected: tuple[int, int]
) -> None:
    """The answer for a time must be NONE with this offset and timestamp."""
    answer = broker.list_offset(topic, asked, version)
    expect_error(answer.error_code, ErrorCode.NONE, f"timestamp {asked}")
    found = (answer.offset, answer.timestamp)
    assert found == expected, f"timestamp {asked}: (offset, timestamp) {found}, not {expected}"


# -- the ends of the log ---------------------------------------------------------------------------


@judges("LISTO-001")
@at_versions("ListOffsets", "1+")
def test_latest_and_earliest_are_the_ends_of_the_log(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """-1 is what Fetch calls the high watermark, -2 the log start; of an empty log, too."""
    topic = broker.create_topic(partitions=2)
    append(broker, topic, batch_of(b"0", b"1", b"2"), batch_of(b"3", b"4"))
    with requirement("LISTO-001"):
        for partition, count in ((0, 5), (1, 0)):
            latest = broker.list_offset(topic, LATEST, api_version, partition=partition)
            earliest = broker.list_offset(topic, EARLIEST, api_version, partition=partition)
            expect_error(latest.error_code, ErrorCode.NONE, "latest")
            expect_error(earliest.error_code, ErrorCode.NONE, "earliest")
            fetched = broker.fetch(topic, earliest.offset, partition=partition)
            ends = (earliest.offset, latest.offset)
            assert ends == (0, count), f"earliest and latest of {count} records are {ends}"
            assert latest.offset == fetched.high_watermark


@judges("LISTO-001")
@at_versions("ListOffsets", "2+")
def test_latest_for_read_committed_is_the_last_stable_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Without transactions: the same as for everybody, and as Fetch tells it."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"0", b"1", b"2"), batch_of(b"3", b"4"))
    request = list_offsets_request(topic, LATEST, isolation_level=1)
    with requirement("LISTO-001"):
        latest = broker.ask(request, api_version).topics[0].partitions[0]
        expect_error(latest.error_code, ErrorCode.NONE, "latest for read_committed")
        assert latest.offset == 5, f"latest for read_committed of 5 records is {latest.offset}"
        assert latest.offset == broker.fetch(topic, 0).last_stable_offset


# -- times -----------------------------------------------------------------------------------------


@judges("LISTO-004")
@at_versions("ListOffsets", "1+")
def test_a_time_gives_the_first_record_that_is_not_older(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Times that no record has, and times that one has; the answer tells the record's own."""
    topic, base = broker.create_topic(), now_ms() - LAST_HOUR_MS
    append(broker, topic, _timed(base, [100, 200, 300]), _timed(base, [400, 600, 500]))
    expected = {0: (0, 100), 100: (0, 100), 200: (1, 200), 301: (3, 400), 450: (4, 600)}
    with requirement("LISTO-004"):
        for after_ms, (offset, at_ms) in expected.items():
            _expect(broker, topic, api_version, base + after_ms, (offset, base + at_ms))


@judges("LISTO-005")
@at_versions("ListOffsets", "1+")
def test_a_time_after_all_records_gives_minus_1(broker: BrokerUnderTest, api_version: int) -> None:
    """Offset -1, timestamp -1, NONE; of an empty log, too."""
    filled, empty, base = broker.create_topic(), broker.create_topic(), now_ms() - LAST_HOUR_MS
    append(broker, filled, _timed(base, [100, 300, 200]))
    with requirement("LISTO-005"):
        for topic in (filled, empty):
            _expect(broker, topic, api_version, base + 301, (-1, -1))


@judges("LISTO-006")
@at_versions("ListOffsets", "1+")
@pytest.mark.parametrize("compression", CODECS)
def test_a_time_inside_a_batch_gives_the_record(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """The second of three records in one batch, compressed or not."""
    topic, base = broker.create_topic(), now_ms() - LAST_HOUR_MS
    append(broker, topic, _timed(base, [100, 200, 300], compression))
    with requirement("LISTO-006"):
        _expect(broker, topic, api_version, base + 150, (1, base + 200))
        _expect(broker, topic, api_version, base + 300, (2, base + 300))


@judges("LISTO-008")
@at_versions("ListOffsets", "7+")
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_max_timestamp_is_the_first_record_with_the_largest_time(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """Two batches hold the largest time, neither begins with it: the first of them counts."""
    topic, base = broker.create_topic(), now_ms() - LAST_HOUR_MS
    batches = ([100, 300, 200], [400, 900, 900, 500], [800, 900], [600])
    append(broker, topic, *(_timed(base, times, compression) for times in batches))
    with requirement("LISTO-008"):
        _expect(broker, topic, api_version, MAX_TIMESTAMP, (4, base + 900))


@judges("LISTO-008")
@at_versions("ListOffsets", "7+")
def test_max_timestamp_of_an_empty_log_is_minus_1(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Nothing has the largest time."""
    topic = broker.create_topic()
    with requirement("LISTO-008"):
        _expect(broker, topic, api_version, MAX_TIMESTAMP, (-1, -1))


@judges("LISTO-009")
@at_versions("ListOffsets", "1+")
def test_tiered_times_are_accepted_from_their_versions_on(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """-4 from version 8 and -5 from version 9; UNSUPPORTED_VERSION below."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"0"))
    with requirement("LISTO-009"):
        for timestamp, since in ((EARLIEST_LOCAL, 8), (LATEST_TIERED, 9)):
            known = api_version >= since
            expected = ErrorCode.NONE if known else ErrorCode.UNSUPPORTED_VERSION
            code = broker.list_offset(topic, timestamp, api_version).error_code
            expect_error(code, expected, f"timestamp {timestamp}")


# -- errors ----------------------------------------------------------------------------------------


@judges("LISTO-012")
@at_versions("ListOffsets", "4+")
def test_the_leader_epoch_of_a_question_is_validated(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The leader's own epoch and -1 are served, a newer one is UNKNOWN_LEADER_EPOCH."""
    topic = broker.create_topic()
    epoch = broker.metadata([topic.name]).topics[0].partitions[0].leader_epoch
    expected = {
        -1: ErrorCode.NONE,
        epoch: ErrorCode.NONE,
        epoch + 1: ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
    with requirement("LISTO-012"):
        for claimed, code in expected.items():
            request = list_offsets_request(topic, LATEST)
            request.topics[0].partitions[0].current_leader_epoch = claimed
            answer = broker.ask(request, api_version).topics[0].partitions[0]
            expect_error(answer.error_code, code, f"epoch {claimed}, the leader's is {epoch}")


@judges("LISTO-013")
@at_versions("ListOffsets", "1+")
def test_a_partition_asked_twice_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """INVALID_REQUEST for the one that is named twice, NONE for the other."""
    topic = broker.create_topic(partitions=2)
    wanted = [
        ListOffsetsRequest.ListOffsetsPartition(partition_index=index, timestamp=LATEST)
        for index in (0, 1, 0)
    ]
    request = list_offsets_request(topic, LATEST)
    request.topics[0].partitions = wanted
    with requirement("LISTO-013"):
        entries = [p for t in broker.ask(request, api_version).topics for p in t.partitions]
        assert {entry.partition_index for entry in entries} == {0, 1}
        for entry in entries:
            twice = entry.partition_index == 0
            expected = ErrorCode.INVALID_REQUEST if twice else ErrorCode.NONE
            expect_error(entry.error_code, expected, f"partition {entry.partition_index}")
