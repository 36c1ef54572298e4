"""Defects of area PROD, in the log offsets of the answer and in the stored records."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.records import RecordBatch
from labs.defects.edited_answer import answers
from labs.defects.prod import change_stored

CHANGE_PLACES = {b"one 3": b"one 4", b"one 4": b"one 3"}


@answers(
    "PROD-024", r"log start and earliest are \(0, 2\)|log start are .*1: \(3, 0\)", range(5, 99)
)
def a_log_always_starts_at_0(answer: ProduceResponse) -> None:
    """Produce returns log start offset 0, even if the beginning of the log was deleted."""
    for topic in answer.responses:
        for one in topic.partition_responses:
            one.log_start_offset = min(one.log_start_offset, 0)


@answers("PROD-027", r"acknowledged as .*, stored as ")
def a_later_record_overtakes(answer: FetchResponse) -> None:
    """The broker swaps two of the records that one producer sent without waiting."""

    def change(batch: RecordBatch) -> RecordBatch:
        values = [record.value or b"" for record in batch.records]
        if not CHANGE_PLACES.keys() & set(values):
            return batch
        pairs = zip(batch.records, values, strict=True)
        records = [replace(r, value=CHANGE_PLACES.get(value, value)) for r, value in pairs]
        return replace(batch, records=records)

    change_stored(answer, change)


@answers("PROD-030", r"changed to max.message.bytes=300: error is NONE", range(3, 4))
def a_changed_limit_is_not_read(request: ProduceRequest, answer: ProduceResponse) -> None:
    """A topic keeps the max.message.bytes with which it was created."""
    records = bytes(request.topic_data[0].partition_data[0].records or b"")
    if b"within limits" in records:
        for topic in answer.responses:
            for one in topic.partition_responses:
                if one.error_code == ErrorCode.MESSAGE_TOO_LARGE:
                    one.error_code = ErrorCode.NONE


@answers("PROD-024", r"base offset and log start are .*1: \(3, 0\)", range(5, 99))
def all_partitions_start_like_the_first(answer: ProduceResponse) -> None:
    """Produce returns the log start offset of a topic's first partition for all of them."""
    for topic in answer.responses:
        for one in topic.partition_responses:
            one.log_start_offset = topic.partition_responses[0].log_start_offset


DEFECTS = [
    all_partitions_start_like_the_first,
    a_log_always_starts_at_0,
    a_later_record_overtakes,
    a_changed_limit_is_not_read,
]
