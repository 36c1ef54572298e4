"""Defects of area TIME: times that are changed, lost, accepted and returned wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import LOG_APPEND_TIME, RecordBatch
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.asked_times import asked_and_told
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.idem_sequences import LooksAtBatches, SentBatch
from labs.defects.newest_topic import NewestTopic, of_newest
from labs.defects.prod import change_stored, first_batch
from suites.protocol.support.log_entries import attributes_of, whole_entries

HALF_AN_HOUR_MS = 30 * 60 * 1000
Answer = ProduceResponse.PartitionProduceResponse


def _answers(message: ProduceResponse) -> list[Answer]:
    return [one for topic in message.responses for one in topic.partition_responses]


def _says_log_append_time(seen: SeenRequest) -> bool:
    """True if the producer has set bit 3 in a batch or message of its first topic."""
    assert isinstance(seen.message, ProduceRequest)
    for topic in seen.message.topic_data:
        entries, _ = whole_entries(bytes(topic.partition_data[0].records or b""))
        return any(attributes_of(entry) & LOG_APPEND_TIME for entry in entries)
    return False


def _change_of(
    value: bytes, change: Callable[[RecordBatch], RecordBatch]
) -> Callable[[Message], None]:
    """Make a function that edits the stored batches of one test, by the value that it sends."""

    def only(batch: RecordBatch) -> RecordBatch:
        return change(batch) if batch.records and batch.records[0].value == value else batch

    return lambda message: change_stored(message, only)


def _at(batch: RecordBatch, *times: int) -> RecordBatch:
    """The batch with these times."""
    records = [
        replace(record, timestamp_delta=time - times[0])
        for record, time in zip(batch.records, times, strict=True)
    ]
    return replace(batch, records=records, base_timestamp=times[0], max_timestamp=max(times))


def _times(batch: RecordBatch) -> list[int]:
    return [batch.base_timestamp + record.timestamp_delta for record in batch.records]


@answers("TIME-001", r"times sent: .*, stored: ")
def times_are_kept_in_seconds(answer: FetchResponse) -> None:
    """The broker cuts the producer's time to whole seconds."""
    cut = _change_of(b"kept", lambda b: _at(b, *(time // 1000 * 1000 for time in _times(b))))
    cut(answer)


@answers("TIME-002", r"does not say that the times are the broker's")
def the_brokers_time_is_not_marked(answer: FetchResponse) -> None:
    """The broker writes its time into each record, and does not set bit 3."""

    def change(batch: RecordBatch) -> RecordBatch:
        broker_time = batch.max_timestamp or 0
        plain = replace(batch, attributes=batch.attributes & ~LOG_APPEND_TIME)
        return _at(plain, *[broker_time] * len(batch.records))

    _change_of(b"replaced", change)(answer)


@answers("TIME-003", r"error is NONE \(0\), expected INVALID_TIMESTAMP")
def producers_may_set_the_brokers_bit(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker acknowledges a batch in which the producer has set bit 3."""
    for one in _answers(answer):
        if one.error_code == ErrorCode.INVALID_TIMESTAMP and _says_log_append_time(seen):
            one.error_code, one.base_offset = ErrorCode.NONE, 0


@answers("TIME-004", r"ms from now: error is NONE \(0\), expected INVALID_TIMESTAMP")
def any_time_is_taken(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker acknowledges a time beyond the limits of the topic."""
    for one in _answers(answer):
        if one.error_code == ErrorCode.INVALID_TIMESTAMP and not _says_log_append_time(seen):
            one.error_code, one.base_offset = ErrorCode.NONE, 0


@answers("TIME-005", r"sent without a time, stored with \[0, 0\]")
def no_time_is_1970(answer: FetchResponse) -> None:
    """The broker stores a record without a time with the time 0."""
    _change_of(b"untimed", lambda b: _at(b, *[0] * len(b.records)))(answer)


@answers("TIME-006", r"\(offset, time\) sent: .*, stored: ")
def records_are_sorted_by_time(answer: FetchResponse) -> None:
    """The broker sorts the times within a batch."""
    _change_of(b"back", lambda b: _at(b, *sorted(_times(b))))(answer)


@answers("TIME-007", r"a message of magic 0 has the time \[0\]", range(4, 99))
def magic_0_is_of_1970(answer: FetchResponse) -> None:
    """Fetch returns a message of magic 0 with the time 0."""
    _change_of(b"without a time", lambda b: _at(b, 0))(answer)


@answers("TIME-010", r"log_append_time of (the|both) answers: .*, stored")
def the_time_is_told_before_it_is_taken(answer: ProduceResponse) -> None:
    """The log_append_time of the answer is not the stored one."""
    for one in _answers(answer):
        if one.log_append_time_ms > 0:
            one.log_append_time_ms -= 1


@answers("TIME-004", r"(none|gzip), time -1: error is INVALID_TIMESTAMP")
def no_time_is_too_old(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker refuses records without a time where times have limits."""
    batch = first_batch(seen)
    if batch is not None and batch.records and batch.records[0].value == b"none":
        for one in _answers(answer):
            one.error_code, one.base_offset = ErrorCode.INVALID_TIMESTAMP, -1


class ARepeatedBatchHasNoTime(LooksAtBatches):
    """The broker acknowledges a repeated batch without its log_append_time."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch in before

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        answer.log_append_time_ms = -1


@answers("TIME-011", r"log_append_time -?\d+: the attributes are 0x8")
def all_batches_have_the_present_type(answer: FetchResponse) -> None:
    """Fetch returns all batches of a topic with bit 3, even those from before the change."""
    change = _change_of(b"typed", lambda b: replace(b, attributes=b.attributes | LOG_APPEND_TIME))
    change(answer)


@of_newest("TIME-011", r"first, the times of .*: \(offset, time\) is \(-1, -1\), expected")
def a_time_finds_no_batch_of_another_type(
    newest: NewestTopic, seen: SeenRequest, answer: Message
) -> None:
    """ListOffsets finds no time of the producer in a topic that has the broker's time now."""
    is_changed = newest.configs.get("message.timestamp.type") == "CreateTime"
    for asked, one in asked_and_told(seen.message, answer) if is_changed else ():
        if 0 <= asked <= one.timestamp < asked + HALF_AN_HOUR_MS:
            one.offset = one.timestamp = -1


DEFECTS = [
    a_time_finds_no_batch_of_another_type,
    all_batches_have_the_present_type,
    no_time_is_too_old,
    rule("TIME-010", r"log_append_time of both answers: \(\d+, -1\)", ARepeatedBatchHasNoTime),
    times_are_kept_in_seconds,
    the_brokers_time_is_not_marked,
    producers_may_set_the_brokers_bit,
    any_time_is_taken,
    no_time_is_1970,
    records_are_sorted_by_time,
    magic_0_is_of_1970,
    the_time_is_told_before_it_is_taken,
]
