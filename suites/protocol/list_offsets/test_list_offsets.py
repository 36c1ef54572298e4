"""LISTO: offsets for times, and for the special times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    Topic,
    list_offsets_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.conformance.subtests import Check
from harness.runner.marks import at_versions, judges
from harness.runner.refusal_judged import refusal_judged
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
FIRST_PRODUCE_OF_ZSTD = 7
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = -4, -5, -6
FIRST_WITH_PENDING = 11
READ_COMMITTED = 1
BASE_MS = now_ms() - 3_600_000  # of today, and not in the future of a clock that is behind
IDLE = 1  # the partition of _six_records that is empty
LAST_TIME = 2**63 - 1


def _timed(after_ms: Sequence[int], compression: str = "none") -> bytes:
    """A batch with a record at each time, given in milliseconds after BASE_MS."""
    first = after_ms[0]
    records = [Record(b"at %d" % after, timestamp_delta=after - first) for after in after_ms]
    return encode_batch(RecordBatch(records, base_timestamp=BASE_MS + first), compression)


def _six_records(broker: BrokerUnderTest) -> Topic:
    """Partition 0 holds two batches of three, not in the order of their times."""
    topic = broker.create_topic(partitions=2)
    append(broker, topic, _timed([100, 200, 300]), _timed([400, 600, 500]))
    return topic


def _falling_batches(broker: BrokerUnderTest) -> Topic:
    """Batches with largest times that rise and fall: 1000, 100, 500, 1200, 300."""
    topic = broker.create_topic()
    for times in ([900, 1000], [100], [500, 400], [1000, 1200], [300]):
        append(broker, topic, _timed(times))
    return topic


def _codecs(broker: BrokerUnderTest) -> list[str]:
    """Those that the broker takes: zstd came with Produce v7 (KIP-110)."""
    takes_zstd = FIRST_PRODUCE_OF_ZSTD in broker.advertised("Produce")
    return [name for name in CODECS if name != "zstd" or takes_zstd]


def _one_batch_for_each_codec(broker: BrokerUnderTest) -> Topic:
    """Partition i holds three records in one batch, compressed with codec i."""
    codecs = _codecs(broker)
    topic = broker.create_topic(partitions=len(codecs))
    for partition, compression in enumerate(codecs):
        append(broker, topic, _timed([100, 200, 300], compression), partition=partition)
    return topic


def _several_largest(broker: BrokerUnderTest) -> Topic:
    """The largest time is in two batches and begins neither; plain, with gzip, and no records."""
    topic = broker.create_topic(partitions=3)
    for partition, compression in enumerate(("none", "gzip")):
        for times in ([100, 300, 200], [400, 900, 900, 500], [800, 900], [600]):
            append(broker, topic, _timed(times, compression), partition=partition)
    return topic


def _without_timestamps(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    batch = encode_batch(RecordBatch([Record(b"timeless"), Record(b"too")], base_timestamp=-1))
    append(broker, topic, batch, batch)
    return topic


def _expect(
    answer: ListOffsetsResponse.ListOffsetsPartitionResponse, expected: tuple[int, int], told: str
) -> None:
    """NONE, with this offset and this timestamp; -1 or milliseconds after BASE_MS."""
    expect_error(answer.error_code, ErrorCode.NONE, told)
    after_ms = answer.timestamp if answer.timestamp == -1 else answer.timestamp - BASE_MS
    found = (answer.offset, after_ms)
    assert found == expected, f"{told}: (offset, time) is {found}, expected {expected}"


def _expect_at_times(
    broker: BrokerUnderTest,
    topic: Topic,
    version: int,
    check: Check,
    expected: Mapping[int, tuple[int, int]],
    told: str = "",
) -> None:
    """Judge each time apart: milliseconds after BASE_MS, with the record that is expected."""
    for after_ms, record in expected.items():
        with check.subtest(f"{told}time {after_ms}"):
            answer = broker.list_offset(topic, BASE_MS + after_ms, version)
            _expect(answer, record, f"{told}time {after_ms}")


# -- the ends of the log ---------------------------------------------------------------------------


@judges("LISTO-001")
@at_versions("ListOffsets", "1+")
def test_list_offsets_latest_is_high_watermark_and_earliest_is_log_start(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """-1 is what Fetch calls the high watermark, -2 the log start; of an empty log, too."""
    topic = kept.topic(broker, _six_records)
    with requirement("LISTO-001") as check:
        for partition, count in ((0, 6), (IDLE, 0)):
            with check.subtest(f"partition {partition}"):
                latest = broker.list_offset(topic, LATEST, api_version, partition=partition)
                earliest = broker.list_offset(topic, EARLIEST, api_version, partition=partition)
                expect_error(latest.error_code, ErrorCode.NONE, "latest")
                expect_error(earliest.error_code, ErrorCode.NONE, "earliest")
                ends = (earliest.offset, latest.offset)
                assert ends == (0, count), f"earliest and latest of {count} records are {ends}"
                fetched = broker.fetch(topic, count, partition=partition).high_watermark
                assert latest.offset == fetched, f"latest {latest.offset}, high watermark {fetched}"


@judges("LISTO-001")
@at_versions("ListOffsets", "1+")
def test_list_offsets_of_new_topic_is_0(broker: BrokerUnderTest, api_version: int) -> None:
    """A leader that never serves it is judged here: elsewhere it is a failed preparation."""
    with requirement("LISTO-001"):
        with refusal_judged():
            topic = broker.create_topic()
        latest = broker.list_offset(topic, LATEST, api_version)
        expect_error(latest.error_code, ErrorCode.NONE, "latest")
        earliest = broker.list_offset(topic, EARLIEST, api_version)
        expect_error(earliest.error_code, ErrorCode.NONE, "earliest")
        ends = (earliest.offset, latest.offset)
        assert ends == (0, 0), f"earliest and latest of 0 records are {ends}"


@judges("LISTO-001")
@at_versions("ListOffsets", "2+")
def test_list_offsets_latest_for_read_committed_is_last_stable_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Without transactions it is the same as for other consumers, and as in Fetch."""
    topic = kept.topic(broker, _six_records)
    request = list_offsets_request(topic, LATEST, isolation_level=READ_COMMITTED)
    with requirement("LISTO-001"):
        latest = only(
            only(broker.ask(request, api_version).topics, "topic").partitions, "partition"
        )
        expect_error(latest.error_code, ErrorCode.NONE, "latest for read_committed")
        fetched = broker.fetch(topic, 0, isolation_level=READ_COMMITTED)
        stable = fetched.last_stable_offset
        told = f"latest for read_committed is {latest.offset}, the last stable offset {stable}"
        assert (latest.offset, stable) == (6, 6), told


# -- times -----------------------------------------------------------------------------------------


@judges("LISTO-004")
@at_versions("ListOffsets", "1+")
def test_list_offsets_returns_first_record_at_or_after_timestamp(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Times without a record, and times of records; the response has the record's own time.

    The first two are the time 0 and the one after it, which no record has.
    """
    topic = kept.topic(broker, _six_records)
    first = {-BASE_MS: (0, 100), 1 - BASE_MS: (0, 100)}
    expected = {**first, 0: (0, 100), 100: (0, 100), 200: (1, 200), 301: (3, 400), 450: (4, 600)}
    with requirement("LISTO-004") as check:
        _expect_at_times(broker, topic, api_version, check, expected)


@judges("LISTO-004")
@at_versions("ListOffsets", "1+")
def test_list_offsets_for_timestamp_finds_record_before_batches_of_earlier_times(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Later batches have earlier times: a record counts, wherever its batch is."""
    topic = kept.topic(broker, _falling_batches)
    expected = {50: (0, 900), 901: (1, 1000), 1000: (1, 1000), 1001: (6, 1200), 1200: (6, 1200)}
    with requirement("LISTO-004") as check:
        _expect_at_times(broker, topic, api_version, check, expected)


@judges("LISTO-005")
@at_versions("ListOffsets", "1+")
def test_list_offsets_for_timestamp_after_all_records_returns_minus_1(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Offset -1, timestamp -1, NONE; of an empty log, too."""
    topic = kept.topic(broker, _six_records)
    with requirement("LISTO-005") as check:
        for partition, time_ms in (
            (0, BASE_MS + 601),
            (0, LAST_TIME),
            (IDLE, BASE_MS + 601),
            (IDLE, 0),
        ):
            with check.subtest(f"partition {partition}, time {time_ms}"):
                answer = broker.list_offset(topic, time_ms, api_version, partition=partition)
                _expect(answer, (-1, -1), f"partition {partition}, time {time_ms - BASE_MS}")


@judges("LISTO-005")
@at_versions("ListOffsets", "1+")
def test_list_offsets_for_timestamp_finds_no_record_without_timestamp(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two batches without timestamps (-1): neither is of time 0, nor of a later one."""
    topic = kept.topic(broker, _without_timestamps)
    with requirement("LISTO-005") as check:
        for time_ms in (0, 1, BASE_MS):
            with check.subtest(f"time {time_ms}"):
                answer = broker.list_offset(topic, time_ms, api_version)
                _expect(answer, (-1, -1), f"records without timestamps, time {time_ms}")


@judges("LISTO-006")
@at_versions("ListOffsets", "1+")
def test_list_offsets_for_timestamp_inside_batch_returns_that_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The second and the third record of one batch, compressed or not."""
    topic = kept.topic(broker, _one_batch_for_each_codec)
    with requirement("LISTO-006") as check:
        for partition, compression in enumerate(_codecs(broker)):
            for after_ms, record in ((150, (1, 200)), (300, (2, 300))):
                with check.subtest(f"compression {compression}, time {after_ms}"):
                    time_ms = BASE_MS + after_ms
                    answer = broker.list_offset(topic, time_ms, api_version, partition=partition)
                    _expect(answer, record, f"compression {compression}, time {after_ms}")


@judges("LISTO-008")
@at_versions("ListOffsets", "7+")
def test_list_offsets_max_timestamp_returns_first_record_with_largest_time(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of three records with the largest time the first counts; an empty log has none."""
    topic = kept.topic(broker, _several_largest)
    with requirement("LISTO-008") as check:
        for partition, record in ((0, (4, 900)), (1, (4, 900)), (2, (-1, -1))):
            with check.subtest(f"partition {partition}"):
                answer = broker.list_offset(topic, MAX_TIMESTAMP, api_version, partition=partition)
                _expect(answer, record, f"partition {partition}, largest time")


@judges("LISTO-009")
@at_versions("ListOffsets", "1+")
def test_list_offsets_accepts_tiered_timestamps_from_v8_and_v9_on(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """-4 from version 8 and -5 from version 9; UNSUPPORTED_VERSION below."""
    topic = kept.topic(broker, _six_records)
    with requirement("LISTO-009") as check:
        for timestamp, since in ((EARLIEST_LOCAL, 8), (LATEST_TIERED, 9)):
            with check.subtest(f"timestamp {timestamp}"):
                known = api_version >= since
                expected = ErrorCode.NONE if known else ErrorCode.UNSUPPORTED_VERSION
                code = broker.list_offset(topic, timestamp, api_version).error_code
                expect_error(code, expected, f"timestamp {timestamp}")


@judges("LISTO-021")
@at_versions("ListOffsets", "9+")
def test_list_offsets_finds_no_tiered_offsets_without_remote_storage(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """-5, and from version 11 on -6: of a log with records and of an empty one."""
    topic = kept.topic(broker, _six_records)
    times = [LATEST_TIERED, *([EARLIEST_PENDING] if api_version >= FIRST_WITH_PENDING else [])]
    with requirement("LISTO-021") as check:
        for partition in (0, IDLE):
            for timestamp in times:
                with check.subtest(f"partition {partition}, timestamp {timestamp}"):
                    found = broker.list_offset(topic, timestamp, api_version, partition=partition)
                    _expect(found, (-1, -1), f"partition {partition}, timestamp {timestamp}")


@judges("LISTO-015")
@at_versions("ListOffsets", "1+")
def test_list_offsets_does_not_return_deleted_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted inside the first batch, behind it, and up to the last record of all."""
    topic = _six_records(broker)
    expected: dict[int, dict[int, tuple[int, int]]] = {
        2: {0: (2, 300), 200: (2, 300), 450: (4, 600)},
        3: {0: (3, 400), 200: (3, 400), 450: (4, 600)},
        5: {0: (5, 500), 450: (5, 500)},
    }
    for deleted_below, found in expected.items():
        delete_records(broker, topic, deleted_below)
        with requirement("LISTO-015") as check:
            told = f"records below {deleted_below} deleted"
            for special in (EARLIEST, *([EARLIEST_LOCAL] if api_version >= 8 else [])):
                with check.subtest(f"{told}: timestamp {special}"):
                    earliest = broker.list_offset(topic, special, api_version)
                    _expect(earliest, (deleted_below, -1), f"{told}: timestamp {special}")
            _expect_at_times(broker, topic, api_version, check, found, f"{told}: ")


# -- errors ----------------------------------------------------------------------------------------


@judges("LISTO-012")
@at_versions("ListOffsets", "4+")
def test_list_offsets_with_newer_leader_epoch_returns_unknown_leader_epoch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The leader's own epoch and -1 are served; a newer one is unknown, a lower one fenced.

    Only -1 means no epoch: every other negative number is an epoch from before the leader's.
    """
    topic = kept.topic(broker, _six_records)
    epoch = told_leader_epoch(broker, topic)
    expected = {
        -1: ErrorCode.NONE,
        epoch: ErrorCode.NONE,
        epoch + 1: ErrorCode.UNKNOWN_LEADER_EPOCH,
        -2: ErrorCode.FENCED_LEADER_EPOCH,
    }
    with requirement("LISTO-012") as check:
        for claimed, code in expected.items():
            with check.subtest(f"epoch {claimed}"):
                request = list_offsets_request(topic, LATEST)
                request.topics[0].partitions[0].current_leader_epoch = claimed
                answered = only(broker.ask(request, api_version).topics, "topic")
                answer = only(answered.partitions, "partition")
                expect_error(answer.error_code, code, f"epoch {claimed}, the leader's is {epoch}")


@judges("LISTO-013")
@at_versions("ListOffsets", "1+")
def test_list_offsets_with_duplicate_partition_returns_invalid_request(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """INVALID_REQUEST for the one that is named twice, NONE for the other.

    Named in one entry of the topic, or in two; with equal times and with others.
    """
    topic = kept.topic(broker, _six_records)
    for name, entries in {
        "in one entry": [[(0, LATEST), (1, LATEST), (0, LATEST)]],
        "with two times": [[(0, LATEST), (0, EARLIEST), (1, LATEST)]],
        "in two entries": [[(0, LATEST)], [(1, LATEST), (0, LATEST)]],
    }.items():
        request = ListOffsetsRequest(replica_id=-1)
        for wanted in entries:
            part = ListOffsetsRequest.ListOffsetsPartition
            partitions = [part(partition_index=index, timestamp=time) for index, time in wanted]
            made = list_offsets_request(topic, LATEST).topics[0]
            made.partitions = partitions
            request.topics.append(made)
        with requirement("LISTO-013"):
            found = [p for t in broker.ask(request, api_version).topics for p in t.partitions]
            assert {one.partition_index for one in found} == {0, 1}, f"{name}: {found}"
            for one in found:
                twice = one.partition_index == 0
                error = ErrorCode.INVALID_REQUEST if twice else ErrorCode.NONE
                expect_error(one.error_code, error, f"{name}: partition {one.partition_index}")
