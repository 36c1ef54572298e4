"""Defects of area LDIR: log directories of one broker."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterReplicaLogDirsResponse,
    DescribeLogDirsResponse,
    FetchResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.newest_topic import NewestTopic, of_newest

MOVED = -1  # a key of what the newest topic remembers.


@answers("LDIR-001", r"DescribedReplica\(.*lag=1, is_future=False\)\], not", "DescribeLogDirs")
def the_lag_is_counted_from_one(_: SeenRequest, message: Message) -> None:
    """DescribeLogDirs returns a lag of one record for a replica that has all."""
    assert isinstance(message, DescribeLogDirsResponse)
    for directory in message.results:
        for topic in directory.topics:
            for partition in topic.partitions:
                partition.offset_lag += 1


@answers("LDIR-002", r": -1 of \d+ bytes are usable", "DescribeLogDirs")
def nobody_knows_what_is_free(_: SeenRequest, message: Message) -> None:
    """DescribeLogDirs returns unknown usable bytes."""
    assert isinstance(message, DescribeLogDirsResponse)
    for directory in message.results:
        directory.usable_bytes = -1


@answers("LDIR-003", r"DescribeLogDirs v[01]: ", "DescribeLogDirs", range(2))
def old_clients_see_no_failure(_: SeenRequest, message: Message) -> None:
    """Up to v1 DescribeLogDirs returns a failed directory as one without partitions."""
    assert isinstance(message, DescribeLogDirsResponse)
    for directory in message.results:
        directory.error_code = int(ErrorCode.NONE)


@of_newest("LDIR-004", r"the replica is not in \w+ alone: .*is_future=True")
def a_move_has_no_end(done: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """DescribeLogDirs returns a moved replica as a future one for ever."""
    if isinstance(answer, AlterReplicaLogDirsResponse):
        codes = {one.error_code for topic in answer.results for one in topic.partitions}
        done.told[MOVED] = int(codes == {ErrorCode.NONE})
    if isinstance(answer, DescribeLogDirsResponse) and done.told.get(MOVED):
        for directory in answer.results:
            for topic in directory.topics:
                for partition in topic.partitions:
                    partition.is_future_key = True


@answers("LDIR-005", r"to second: error is LOG_DIR_NOT_FOUND", "AlterReplicaLogDirs")
def a_failed_directory_is_not_found(_: SeenRequest, message: Message) -> None:
    """AlterReplicaLogDirs reports a failed directory as not found."""
    assert isinstance(message, AlterReplicaLogDirsResponse)
    for topic in message.results:
        for partition in topic.partitions:
            if partition.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
                partition.error_code = int(ErrorCode.LOG_DIR_NOT_FOUND)


@answers("LDIR-007", r"Fetch v[0-5]: error is KAFKA_STORAGE_ERROR", "Fetch", range(6))
def everybody_knows_the_error(_: SeenRequest, message: Message) -> None:
    """Fetch up to v5 returns an error that its clients do not know."""
    assert isinstance(message, FetchResponse)
    for topic in message.responses:
        for partition in topic.partitions:
            if partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                partition.error_code = int(ErrorCode.KAFKA_STORAGE_ERROR)


DEFECTS = [
    the_lag_is_counted_from_one,
    nobody_knows_what_is_free,
    *(
        replace(defect, private=True)
        for defect in (
            old_clients_see_no_failure,
            a_move_has_no_end,
            a_failed_directory_is_not_found,
            everybody_knows_the_error,
        )
    ),
]
