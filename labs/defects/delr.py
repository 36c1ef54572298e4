"""Defects of area DELR."""

from __future__ import annotations

from dataclasses import replace

from harness.client.requests import EARLIEST
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from labs.defects.changed_field import changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

Asked = DeleteRecordsRequest.DeleteRecordsPartition
UP_TO_THE_HIGH_WATERMARK = -1
MANY_TOPICS = 2  # of the request about many partitions
LOG_END = 9  # of the logs that the tests delete from


def _asked(request: DeleteRecordsRequest) -> list[Asked]:
    return [partition for topic in request.topics for partition in topic.partitions]


@takes("DELR-001", r"deleted below 7: .* are \(6, 6\), expected 7")
def only_whole_batches_are_deleted(request: DeleteRecordsRequest) -> None:
    """DeleteRecords starts the log with the batch of an offset inside it; batches hold three."""
    for partition in _asked(request):
        if 6 < partition.offset < LOG_END:
            partition.offset = 6


@takes("DELR-003", r"deleted below \d+, .*error is NONE \(0\)")
def too_much_is_all(request: DeleteRecordsRequest) -> None:
    """DeleteRecords above the high watermark deletes all records."""
    for partition in _asked(request):
        if partition.offset > LOG_END:
            partition.offset = UP_TO_THE_HIGH_WATERMARK


@answers("DELR-004", r"deleted below 3: error is OFFSET_OUT_OF_RANGE")
def what_is_deleted_may_not_be_deleted(
    request: DeleteRecordsRequest, message: DeleteRecordsResponse
) -> None:
    """DeleteRecords below the log start is out of range."""
    asked = _asked(request)
    answered = [partition for topic in message.topics for partition in topic.partitions]
    for one, answer in zip(asked, answered, strict=True):
        if 0 <= one.offset < answer.low_watermark:
            answer.error_code, answer.low_watermark = ErrorCode.OFFSET_OUT_OF_RANGE, -1


@takes("DELR-009", r"topic [01], deleted below .*: low watermarks ")
def one_offset_deletes_in_all_partitions(request: DeleteRecordsRequest) -> None:
    """DeleteRecords deletes all partitions of a topic up to the offset of the first one."""
    if len(request.topics) == MANY_TOPICS:
        for topic in request.topics:
            for partition in topic.partitions:
                partition.offset = topic.partitions[0].offset


@answers("DELR-010", r"behind the end: error is OFFSET_OUT_OF_RANGE")
def the_offset_is_checked_first(
    request: DeleteRecordsRequest, message: DeleteRecordsResponse
) -> None:
    """DeleteRecords checks the offset before the cleanup policy."""
    for answer in (part for topic in message.topics for part in topic.partitions):
        if answer.error_code == ErrorCode.POLICY_VIOLATION and _asked(request)[0].offset > 1:
            answer.error_code = ErrorCode.OFFSET_OUT_OF_RANGE


@answers("DELR-005", r"deleted below 1: error is POLICY_VIOLATION")
def compacted_topics_keep_all(
    request: DeleteRecordsRequest, message: DeleteRecordsResponse
) -> None:
    """DeleteRecords refuses a topic that is compacted, even if its records are deleted too."""
    asked = _asked(request)
    if len(request.topics) == 1 and [one.offset for one in asked] == [1]:
        (answer,) = message.topics[0].partitions
        answer.error_code, answer.low_watermark = ErrorCode.POLICY_VIOLATION, -1


@answers("DELR-013", r"earliest is 0 after compaction, 1 before it")
def compaction_brings_the_start_back(
    request: ListOffsetsRequest, answer: ListOffsetsResponse
) -> None:
    """The log starts with its first segment again after a compaction."""
    if all(part.timestamp == EARLIEST for topic in request.topics for part in topic.partitions):
        for topic in answer.topics:
            for partition in topic.partitions:
                partition.offset = 0 if partition.offset == 1 else partition.offset


@answers("DELR-014", r"earliest is 2 after the removal, 3 before it")
def removal_brings_the_start_back(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """The log starts with its first segment again when the segments before it are removed."""
    if all(part.timestamp == EARLIEST for topic in request.topics for part in topic.partitions):
        for topic in answer.topics:
            for partition in topic.partitions:
                partition.offset = 2 if partition.offset == 3 else partition.offset


DEFECTS = [
    replace(removal_brings_the_start_back, private=True),
    replace(compaction_brings_the_start_back, private=True),
    one_offset_deletes_in_all_partitions,
    compacted_topics_keep_all,
    the_offset_is_checked_first,
    changed_field("DELR-005", "compacted_topics_lose_records", r"compact.*: error is NONE",
        "DeleteRecords reports records as deleted in a topic that is only compacted.",
        DeleteRecordsResponse, "topics.partitions.error_code",
        ErrorCode.POLICY_VIOLATION, ErrorCode.NONE),
    only_whole_batches_are_deleted,
    changed_field("DELR-002", "the_last_record_stays",
        r"deleted below -1: .* are \(8, 8\), expected 9",
        "DeleteRecords up to the high watermark keeps the last record.",
        DeleteRecordsRequest, "topics.partitions.offset",
        UP_TO_THE_HIGH_WATERMARK, LOG_END - 1, where={"topics.partitions.partition_index": 0}),
    changed_field("DELR-012", "internal_topics_are_only_compacted",
        r"__(consumer_offsets|transaction_state): error is POLICY_VIOLATION",
        "DeleteRecords refuses internal topics for their cleanup policy alone.",
        DeleteRecordsResponse, "topics.partitions.error_code",
        ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.POLICY_VIOLATION),
    too_much_is_all,
    what_is_deleted_may_not_be_deleted,
]  # fmt: skip
