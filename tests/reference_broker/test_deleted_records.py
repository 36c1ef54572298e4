"""Deletion of the beginning of a log: the rest of the log, and the answers of the API."""

import pytest

from harness.base.ids import Offset
from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    FindCoordinatorRequest,
)
from harness.reference_broker.state.partition.offset_search import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    NOTHING_FOUND,
    find_offset,
)
from harness.reference_broker.state.partition.partition import Partition
from tests.reference_broker.running import Address, create_topic
from tests.reference_broker.state.partition.test_partition import NOW, partition, sent
from tests.reference_broker.test_server import produce

Result = DeleteRecordsResponse.DeleteRecordsPartitionResult


def two_batches() -> Partition:
    """Offsets 0 to 2 at NOW, NOW + 90, NOW + 20; offsets 3 and 4 at NOW + 40 and NOW + 50."""
    target = partition()
    target.append(sent(0, 90, 20), NOW)
    target.append(sent(40, 50), NOW)
    return target


def test_log_start_offset_never_decreases() -> None:
    target = two_batches()
    assert [target.delete_records(below) for below in (2, 1, 0, 4)] == [2, 2, 2, 4]
    assert (find_offset(target, EARLIEST).offset, find_offset(target, LATEST).offset) == (4, 5)


def test_delete_records_at_minus_1_deletes_up_to_high_watermark() -> None:
    target = two_batches()
    told_bytes = target.segments.size_bytes
    assert told_bytes == target.log.size_bytes > 0
    assert target.delete_records(-1) == 5
    assert target.log.between(Offset(0), Offset(5)) == []
    assert target.log.size_bytes == told_bytes  # the segment is still there


@pytest.mark.parametrize("below", [6, -2])
def test_delete_records_outside_of_log_returns_offset_out_of_range(below: int) -> None:
    target = two_batches()
    assert target.delete_records(below) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert target.log.start_offset == 0


@pytest.mark.parametrize(
    ("policy", "expected"),
    [("compact", ErrorCode.POLICY_VIOLATION), ("compact,delete", 0), ("", 0)],
)
def test_delete_records_of_compact_only_topic_is_policy_violation(
    policy: str, expected: ErrorCode | int
) -> None:
    assert partition(cleanup_policy=policy).delete_records(0) == expected


def test_batch_stays_whole_until_last_record_is_deleted() -> None:
    target = two_batches()
    whole = target.log.read(Offset(0), 10_000, True)
    target.delete_records(2)
    assert target.log.read(Offset(2), 10_000, True) == whole
    target.delete_records(3)
    left = target.log.read(Offset(3), 10_000, True)
    assert left == whole[-len(left) :]
    assert len(left) < len(whole) == target.log.size_bytes


def test_emptied_log_continues_at_its_end_offset() -> None:
    target = two_batches()
    target.delete_records(-1)
    assert target.append(sent(), NOW).base_offset == 5
    piece = target.log.read(Offset(6), 10_000, True)
    (last,) = target.log.between(Offset(5), target.log.end_offset)
    assert piece == last.data


def test_timestamp_search_skips_deleted_records() -> None:
    target = two_batches()
    assert find_offset(target, NOW + 30).offset == 1
    target.delete_records(2)
    assert find_offset(target, NOW).offset == 2
    assert find_offset(target, NOW + 30).offset == 3
    assert find_offset(target, NOW + 60) == NOTHING_FOUND


def test_largest_timestamp_counts_until_its_segment_is_deleted() -> None:
    """A record below the log start is found until then."""
    target = two_batches()
    newest = find_offset(target, MAX_TIMESTAMP)
    assert newest.offset == 1
    for below in (2, 3, 5):
        target.delete_records(below)
        assert find_offset(target, MAX_TIMESTAMP) == newest
    target.drop_segments(1, NOW)
    assert find_offset(target, MAX_TIMESTAMP) == NOTHING_FOUND


def wanted(name: str, *offsets: tuple[int, int]) -> DeleteRecordsRequest.DeleteRecordsTopic:
    parts = [
        DeleteRecordsRequest.DeleteRecordsPartition(partition_index=index, offset=offset)
        for index, offset in offsets
    ]
    return DeleteRecordsRequest.DeleteRecordsTopic(name=name, partitions=parts)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_delete_records_returns_result_of_each_partition(
    address: Address, topic_name: str, version: int
) -> None:
    create_topic(address, topic_name, partitions=2)
    request = DeleteRecordsRequest(
        topics=[
            wanted(topic_name, (0, 7), (1, 0), (2, 0)),
            wanted("nowhere", (0, 0)),
            wanted(topic_name, (0, 1)),
        ]
    )
    with Connection(address) as connection:
        connection.ask(produce(topic_name), 9)
        answer = connection.ask(request, version)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert {t.name: t.partitions for t in answer.topics} == {
        topic_name: [
            Result(partition_index=0, low_watermark=1),
            Result(partition_index=1, low_watermark=0),
            Result(partition_index=2, low_watermark=-1, error_code=unknown),
        ],
        "nowhere": [Result(partition_index=0, low_watermark=-1, error_code=unknown)],
    }


def test_delete_records_of_internal_topic_is_refused(address: Address) -> None:
    with Connection(address) as connection:
        connection.ask(FindCoordinatorRequest(key="group"), 3)
        request = DeleteRecordsRequest(topics=[wanted("__consumer_offsets", (0, 0))])
        answer = connection.ask(request, 2)
    (result,) = answer.topics[0].partitions
    assert result == Result(low_watermark=-1, error_code=ErrorCode.INVALID_TOPIC_EXCEPTION)
