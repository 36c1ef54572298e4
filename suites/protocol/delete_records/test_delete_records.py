"""DELR: records that are deleted from the beginning of a log (KIP-107)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.requests import EARLIEST, Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteRecordsRequest
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms, topic_with_batches
from suites.protocol.support.deleted_records import ask_to_delete, delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import NO_PARTITION, VALUES, log_of_nine, values_of
from suites.protocol.support.internal_topics import KEY_TYPES, internal_topic

UP_TO_THE_HIGH_WATERMARK = -1
BEHIND_THE_END = 9
OUT_OF_RANGE, MISSING = ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _expect_deleted(
    broker: BrokerUnderTest, topic: Topic, below: int, version: int, start: int, partition: int = 0
) -> None:
    """DeleteRecords returns NONE; it and ListOffsets return ``start`` as the log start."""
    answer = ask_to_delete(broker, topic, below, version, partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, f"deleted below {below}")
    found = (answer.low_watermark, _earliest(broker, topic, partition))
    told = f"deleted below {below}: low watermark and earliest are {found}, expected {start}"
    assert found == (start, start), told


def _keyed(*keys: bytes) -> bytes:
    records = [Record(b"value", key) for key in keys]
    return encode_batch(RecordBatch(records, base_timestamp=now_ms()))


def _earliest(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> int:
    answer = broker.list_offset(topic, EARLIEST, partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, "earliest")
    return answer.offset


@judges("DELR-001")
@at_versions("DeleteRecords", "0+")
def test_delete_records_sets_log_start_offset_to_requested_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """At the edge of a batch and inside of one: what is below is gone, what is there is read."""
    topic = log_of_nine(broker)
    with requirement("DELR-001"):
        for start in (3, 7):
            _expect_deleted(broker, topic, start, api_version, start)
            for gone in (0, start - 1):
                code = broker.fetch(topic, gone).error_code
                expect_error(code, OUT_OF_RANGE, f"Fetch at {gone}, deleted below {start}")
            there = broker.fetch(topic, start)
            expect_error(there.error_code, ErrorCode.NONE, f"Fetch at {start}")
            assert values_of(there)[-1] == b"r8", f"read at {start}: {values_of(there)}"


@judges("DELR-001")
@at_versions("DeleteRecords", "0+")
def test_delete_records_inside_compressed_batch_leaves_its_later_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of a batch of nine, deleted three times inside: the others are read, and then none."""
    topic = broker.create_topic(partitions=2)
    for partition, codec in enumerate(("gzip", "none")):
        records = RecordBatch([Record(value) for value in VALUES], base_timestamp=now_ms())
        append(broker, topic, encode_batch(records, codec), partition=partition)
    with requirement("DELR-001") as check:
        for partition in range(2):
            with check.subtest(f"partition {partition}"):
                for start in (1, 4, 8):
                    _expect_deleted(broker, topic, start, api_version, start, partition)
                    there = broker.fetch(topic, start, partition=partition)
                    expect_error(there.error_code, ErrorCode.NONE, f"Fetch at {start}")
                    found = values_of(there)[start - len(VALUES) :]
                    assert found == VALUES[start:], f"read at {start}: {values_of(there)}"


@judges("DELR-002")
@at_versions("DeleteRecords", "0+")
def test_delete_records_at_minus_1_deletes_up_to_high_watermark(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of nine records, of none, and again of one that came behind them; offsets go on."""
    topic = log_of_nine(broker)
    with requirement("DELR-002") as check:
        for partition, end in ((0, 9), (1, 0)):
            with check.subtest(f"partition {partition}"):
                _expect_deleted(
                    broker, topic, UP_TO_THE_HIGH_WATERMARK, api_version, end, partition=partition
                )
    append(broker, topic, batch_of(b"behind"))
    with requirement("DELR-002"):
        assert values_of(broker.fetch(topic, 9)) == [b"behind"], "what came later is not deleted"
        _expect_deleted(broker, topic, UP_TO_THE_HIGH_WATERMARK, api_version, 10)


@judges("DELR-003")
@at_versions("DeleteRecords", "0+")
def test_delete_records_at_invalid_offset_returns_offset_out_of_range(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One above the high watermark, far above it, and below -1."""
    topic = log_of_nine(broker)
    with requirement("DELR-003") as check:
        for below in (10, 14, 2**63 - 1, -2, -(2**63)):
            with check.subtest(f"below {below}"):
                before = _earliest(broker, topic)
                code = ask_to_delete(broker, topic, below, api_version).error_code
                expect_error(code, OUT_OF_RANGE, f"deleted below {below}, the log ends at 9")
                earliest = _earliest(broker, topic)
                told = f"below {below} refused, yet the log starts at {earliest}"
                assert earliest == before, told


@judges("DELR-004")
@at_versions("DeleteRecords", "0+")
def test_delete_records_never_moves_log_start_offset_back(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Deleted below 5: then below 3, below 0, and below 5 once more."""
    topic = log_of_nine(broker)
    delete_records(broker, topic, 5)
    with requirement("DELR-004"):
        for below in (3, 0, 5):
            _expect_deleted(broker, topic, below, api_version, 5)


@judges("DELR-005")
@at_versions("DeleteRecords", "0+")
def test_delete_records_is_refused_for_unknown_and_only_compacted_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A topic that is compacted and deleted too gives its records up."""
    compacted, both = (
        broker.create_topic(configs={"cleanup.policy": policy})
        for policy in ("compact", "compact,delete")
    )
    append(broker, both, _keyed(b"a", b"b"))
    with requirement("DELR-005") as check:
        for where, topic, partition, offset, code in (
            ("unknown topic", Topic(broker.unique_topic()), 0, 0, MISSING),
            ("unknown partition", both, NO_PARTITION, 0, MISSING),
            ("partition -1", both, -1, 0, MISSING),
            ("compact", compacted, 0, 0, ErrorCode.POLICY_VIOLATION),
            ("compact, up to the high watermark", compacted, 0, -1, ErrorCode.POLICY_VIOLATION),
        ):
            with check.subtest(where):
                answer = ask_to_delete(broker, topic, offset, api_version, partition=partition)
                expect_error(answer.error_code, code, where)
                told = f"{where}: low watermark {answer.low_watermark}"
                assert answer.low_watermark == -1, told
        _expect_deleted(broker, both, 1, api_version, 1)


@judges("DELR-010")
@at_versions("DeleteRecords")
def test_delete_records_checks_cleanup_policy_before_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An offset behind the end of a topic that is only compacted."""
    compacted = broker.create_topic(configs={"cleanup.policy": "compact"})
    with requirement("DELR-010"):
        answer = ask_to_delete(broker, compacted, BEHIND_THE_END, api_version)
        expect_error(answer.error_code, ErrorCode.POLICY_VIOLATION, "an offset behind the end")
        assert answer.low_watermark == -1, f"the low watermark is {answer.low_watermark}"


@judges("DELR-009")
@at_versions("DeleteRecords", "0+")
def test_each_partition_of_delete_records_has_own_offset_and_error(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two topics with other offsets for each partition; two are refused, one is not named."""
    topics = [topic_with_batches(broker, 4, batch_of(*VALUES)) for _ in range(2)]
    wanted = [{2: 3, 0: len(VALUES) + 1, NO_PARTITION: 1, 1: -1}, {3: 5, 0: 7}]
    low = [{2: 3, 0: -1, NO_PARTITION: -1, 1: 9}, {3: 5, 0: 7}]
    earliest = [{0: 0, 1: 9, 2: 3, 3: 0}, {0: 7, 1: 0, 2: 0, 3: 5}]
    refused = [{0: OUT_OF_RANGE, NO_PARTITION: MISSING}, {}]
    entries = [
        DeleteRecordsRequest.DeleteRecordsTopic(
            name=topic.name,
            partitions=[
                DeleteRecordsRequest.DeleteRecordsPartition(partition_index=index, offset=offset)
                for index, offset in offsets.items()
            ],
        )
        for topic, offsets in zip(topics, wanted, strict=True)
    ]
    timeout_ms = int(broker.scaled_ms(DEFAULT_TIMEOUT_MS))
    with requirement("DELR-009") as check:
        answer = broker.ask(
            DeleteRecordsRequest(topics=entries, timeout_ms=timeout_ms), api_version
        )
        answered = {topic.name: topic.partitions for topic in answer.topics}
        for number, topic in enumerate(topics):
            with check.subtest(f"topic {number}"):
                results = {p.partition_index: p for p in answered.get(topic.name, [])}
                found = {index: result.low_watermark for index, result in results.items()}
                told = f"topic {number}, deleted below {wanted[number]}"
                assert found == low[number], f"{told}: low watermarks {found}"
                starts = {partition: _earliest(broker, topic, partition) for partition in range(4)}
                assert starts == earliest[number], f"{told}: earliest {starts}"
                for index, code in refused[number].items():
                    expect_error(results[index].error_code, code, f"{told}: partition {index}")


@judges("DELR-009")
@at_versions("DeleteRecords", "0+")
def test_topic_in_two_entries_of_delete_records_is_deleted_in_both(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Other partitions in each entry of the topic: each gets its own result."""
    topic = topic_with_batches(broker, 3, batch_of(*VALUES))
    made = DeleteRecordsRequest.DeleteRecordsPartition
    entries = [
        DeleteRecordsRequest.DeleteRecordsTopic(
            name=topic.name,
            partitions=[made(partition_index=index, offset=offset) for index, offset in wanted],
        )
        for wanted in ([(0, 2), (1, 3)], [(2, 4)])
    ]
    timeout_ms = int(broker.scaled_ms(DEFAULT_TIMEOUT_MS))
    with requirement("DELR-009"):
        request = DeleteRecordsRequest(topics=entries, timeout_ms=timeout_ms)
        answer = broker.ask(request, api_version)
        found = {p.partition_index: p.low_watermark for t in answer.topics for p in t.partitions}
        assert found == {0: 2, 1: 3, 2: 4}, f"low watermarks {found}"
        starts = [_earliest(broker, topic, partition) for partition in range(3)]
        assert starts == [2, 3, 4], f"earliest {starts}"


@judges("DELR-012")
@pytest.mark.parametrize("name", KEY_TYPES)
@at_versions("DeleteRecords", "0+")
def test_delete_records_of_internal_topic_returns_invalid_topic_exception(
    broker: BrokerUnderTest, name: str, api_version: int
) -> None:
    """At offset 0, where a broker that takes the request has nothing to delete."""
    topic = internal_topic(broker, name)
    with requirement("DELR-012"):
        answer = ask_to_delete(broker, topic, 0, api_version)
        expect_error(answer.error_code, ErrorCode.INVALID_TOPIC_EXCEPTION, name)
        assert answer.low_watermark == -1, f"{name}: low_watermark is {answer.low_watermark}"
