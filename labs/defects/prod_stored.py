"""Defects of area PROD, in the log offsets of the answer and in the stored records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.codec.records import CODEC_MASK, RecordBatch
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.prod import change_stored

CHECKSUM, WRONG_CHECKSUM = slice(17, 21), bytes.fromhex("12345678")
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


@answers("PROD-020", r"in \w+(, of a topic in gzip)?, keys and values sent: ")
def compression_takes_null_for_empty(answer: FetchResponse) -> None:
    """Fetch returns empty keys for null ones of a compressed batch."""

    def change(batch: RecordBatch) -> RecordBatch:
        keys = {record.key for record in batch.records}
        if not batch.attributes & CODEC_MASK or not {b"", None} <= keys:
            return batch
        return replace(batch, records=[replace(r, key=r.key or b"") for r in batch.records])

    change_stored(answer, change)


class AStaleIdFindsTheNewTopic(FrameRule):
    """Produce refuses the id of a deleted topic, and appends to the topic that has its name now."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.newest: dict[str, UUID] = {}
        self.stale = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.stale, request = False, seen.message
        if not isinstance(request, ProduceRequest) or len(request.topic_data) != 1:
            return seen.payload
        topic = request.topic_data[0]
        name = self.names.get(topic.topic_id)
        if name is None or self.newest[name] == topic.topic_id:
            return seen.payload
        self.stale, topic.topic_id = True, self.newest[name]
        return with_body(seen, request)

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if isinstance(seen.message, CreateTopicsRequest | ProduceRequest):
            return [edited(seen, payload, self.edit)]
        return [payload]

    def edit(self, _: SeenRequest, answer: Message) -> None:
        if isinstance(answer, CreateTopicsResponse):
            for topic in answer.topics:
                self.names[topic.topic_id] = topic.name
                self.newest[topic.name] = topic.topic_id
        elif isinstance(answer, ProduceResponse) and self.stale:
            for one in answer.responses[0].partition_responses:
                one.error_code, one.base_offset = ErrorCode.UNKNOWN_TOPIC_ID, -1


@answers("PROD-031", r"too large, a wrong checksum: error is CORRUPT_MESSAGE")
def the_checksum_comes_before_the_size(request: ProduceRequest, answer: ProduceResponse) -> None:
    """The broker looks at the checksum of a batch before its size."""
    for asked, told in zip(request.topic_data, answer.responses, strict=False):
        for sent, one in zip(asked.partition_data, told.partition_responses, strict=False):
            data = sent.records or b""
            is_wrong = len(data) > CHECKSUM.stop and data[CHECKSUM] == WRONG_CHECKSUM
            if is_wrong and one.error_code == ErrorCode.MESSAGE_TOO_LARGE:
                one.error_code = ErrorCode.CORRUPT_MESSAGE


DEFECTS = [
    the_checksum_comes_before_the_size,
    compression_takes_null_for_empty,
    rule("PROD-025", r"created again end at \(1, 1\)", AStaleIdFindsTheNewTopic),
    all_partitions_start_like_the_first,
    a_log_always_starts_at_0,
    a_later_record_overtakes,
    a_changed_limit_is_not_read,
]
