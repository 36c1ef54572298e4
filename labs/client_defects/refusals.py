"""Defects of a broker that acknowledges what it refuses, and of how it stores what it takes."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import (
    CreatePartitionsResponse,
    CreateTopicsResponse,
    DeleteGroupsResponse,
    DeleteTopicsResponse,
    IncrementalAlterConfigsResponse,
    ProduceResponse,
)
from harness.codec.records import CODEC_MASK, LOG_APPEND_TIME, Record, RecordBatch
from labs.client_defects.fetched import each_batch, each_record
from labs.defects.edited_answer import answers

NO_ERROR = r"the client reports no error"


@answers("CLIENT-053", rf"{NO_ERROR}: the topic exists")
def an_existing_topic_is_acknowledged(answer: CreateTopicsResponse) -> None:
    """CreateTopics returns no error for a topic that exists."""
    for topic in answer.topics:
        topic.error_code = 0


@answers("CLIENT-054", rf"{NO_ERROR}: a record is too large")
def a_record_too_large_is_acknowledged(answer: ProduceResponse) -> None:
    """Produce returns no error, and the offset 0, for a record that it does not store."""
    for topic in answer.responses:
        for one in topic.partition_responses:
            if one.error_code:
                one.error_code, one.base_offset = 0, 0


@answers("CLIENT-055", rf"{NO_ERROR}: the value is no number")
def a_wrong_value_is_acknowledged(answer: IncrementalAlterConfigsResponse) -> None:
    """IncrementalAlterConfigs returns no error for a value that it does not take."""
    for one in answer.responses:
        one.error_code = 0


@answers("CLIENT-056", rf"{NO_ERROR}: there are more of them")
def fewer_partitions_are_acknowledged(answer: CreatePartitionsResponse) -> None:
    """CreatePartitions returns no error where it adds none."""
    for one in answer.results:
        one.error_code = 0


@answers("CLIENT-057", rf"{NO_ERROR}: there is no such topic")
def the_deletion_of_an_unknown_topic_is_acknowledged(answer: DeleteTopicsResponse) -> None:
    """DeleteTopics returns no error for a topic that it does not know."""
    for one in answer.responses:
        one.error_code = 0


@answers("CLIENT-058", rf"{NO_ERROR}: the group has a member")
def the_deletion_of_a_group_with_members_is_acknowledged(answer: DeleteGroupsResponse) -> None:
    """DeleteGroups returns no error for a group that it keeps."""
    for one in answer.results:
        one.error_code = 0


@each_batch("CLIENT-059", r"stored with \['none'\], the topic has gzip")
def the_codec_of_the_topic_is_ignored(batch: RecordBatch) -> RecordBatch:
    """The broker stores the batches of a topic that compresses without compression."""
    return replace(batch, attributes=batch.attributes & ~CODEC_MASK)


@each_batch("CLIENT-060", r"stored with the times of the client")
def the_times_of_the_client_are_stored(batch: RecordBatch) -> RecordBatch:
    """The broker stores the batches of a topic with LogAppendTime with CreateTime."""
    return replace(batch, attributes=batch.attributes & ~LOG_APPEND_TIME)


@each_record("CLIENT-061", r"from offset 7, record 0: .*'value': '0-x'")
def the_first_value_within_a_batch_changes(record: Record) -> Record:
    """A consumer that begins within a batch gets another value."""
    return replace(record, value=b"0-x") if record.value == b"0-7" else record


DEFECTS = [
    an_existing_topic_is_acknowledged,
    a_record_too_large_is_acknowledged,
    a_wrong_value_is_acknowledged,
    fewer_partitions_are_acknowledged,
    the_deletion_of_an_unknown_topic_is_acknowledged,
    the_deletion_of_a_group_with_members_is_acknowledged,
    the_codec_of_the_topic_is_ignored,
    the_times_of_the_client_are_stored,
    the_first_value_within_a_batch_changes,
]
