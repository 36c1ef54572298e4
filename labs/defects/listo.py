"""Defects of area LISTO."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from harness.client.requests import EARLIEST, LATEST, MAX_TIMESTAMP
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataResponse,
    ProduceRequest,
)
from harness.codec.records import BATCH_HEADER_BYTES, BatchHeader
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import answers, rule
from labs.defects.edited_request import takes

EARLIEST_LOCAL = -4
Asked = ListOffsetsRequest.ListOffsetsPartition
Answered = ListOffsetsResponse.ListOffsetsPartitionResponse


def _pairs(seen: SeenRequest, message: Message) -> list[tuple[str, Asked, Answered]]:
    """Topic, request and answer of each partition, if the request is about one topic."""
    request = seen.message
    assert isinstance(request, ListOffsetsRequest)
    assert isinstance(message, ListOffsetsResponse)
    if len(request.topics) != 1:
        return []
    given = {answer.partition_index: answer for t in message.topics for answer in t.partitions}
    topic = request.topics[0]
    return [
        (topic.name, asked, given[asked.partition_index])
        for asked in topic.partitions
        if asked.partition_index in given
    ]


@answers(
    "LISTO-001",
    r"of 6 records are \(0, 5\)|for read_committed is 5",
    "ListOffsets",
    range(1, 11),  # what the other tests ask, to prepare themselves, is asked at version 11
)
def latest_is_the_last_record(seen: SeenRequest, message: Message) -> None:
    """The latest offset is that of the last record, not the next one."""
    for _, asked, answer in _pairs(seen, message):
        if asked.timestamp == LATEST and answer.offset > 0:
            answer.offset -= 1


def _lists(seen: SeenRequest, message: Message) -> list[tuple[Asked, list[int]]]:
    """Request and list of offsets of each partition, as in version 0."""
    return [(asked, answer.old_style_offsets) for _, asked, answer in _pairs(seen, message)]


@answers("LISTO-002", r"offsets \[0, 3, 6, 9\], expected \[9, 6, 3, 0\]", "ListOffsets", range(1))
def segments_come_oldest_first(seen: SeenRequest, message: Message) -> None:
    """Version 0 lists the base offsets of segments in the order of the log."""
    for _, offsets in _lists(seen, message):
        offsets.reverse()


@answers("LISTO-003", r"at most 10: earliest is \[1, 0\]", "ListOffsets", range(1))
def the_earliest_is_not_alone(seen: SeenRequest, message: Message) -> None:
    """Version 0 returns the earliest offset with the next one if it may return two."""
    for asked, offsets in _lists(seen, message):
        if asked.timestamp == EARLIEST and asked.max_num_offsets > 1:
            offsets.insert(0, offsets[0] + 1)


@answers("LISTO-004", r"time 0: \(offset, time\) is \(0, 0\), expected \(0, 100\)", "ListOffsets")
def the_time_asked_is_the_time_answered(seen: SeenRequest, message: Message) -> None:
    """The answer for a time before the first record repeats the time of the request."""
    for _, asked, answer in _pairs(seen, message):
        if asked.timestamp >= 0 and answer.offset == 0:
            answer.timestamp = asked.timestamp


@answers(
    "LISTO-005",
    r"\(offset, time\) is \(0, -1\), expected \(-1, -1\)",
    "ListOffsets",
    range(1, 99),
)
def no_record_is_the_first_record(seen: SeenRequest, message: Message) -> None:
    """ListOffsets answers a time after all records with offset 0."""
    for _, asked, answer in _pairs(seen, message):
        if asked.timestamp >= 0 and answer.offset == -1:
            answer.offset = 0


class CompressedBatchesAreNotOpened(FrameRule):
    """ListOffsets answers a time inside a compressed batch with the batch's first record."""

    def __init__(self) -> None:
        self.compressed: dict[tuple[str | UUID, int], BatchHeader] = {}
        self.ids: dict[str | None, UUID] = {}

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, ProduceRequest):
            for topic in request.topic_data:
                for part in topic.partition_data:
                    self._remember(topic.name or topic.topic_id, part)
        return seen.payload

    def _remember(self, topic: str | UUID, part: ProduceRequest.PartitionProduceData) -> None:
        if len(part.records or b"") >= BATCH_HEADER_BYTES:
            header = BatchHeader.read(part.records or b"")
            if header.codec_id:
                self.compressed[topic, part.index] = header

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name not in ("Metadata", "ListOffsets"):
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        if isinstance(message, MetadataResponse):
            self.ids |= {topic.name: topic.topic_id for topic in message.topics}
            return [payload]
        for topic, asked, answer in _pairs(seen, message):
            self._edit(topic, asked, answer)
        return [encode_response(message, seen.version, correlation_id)]

    def _edit(self, topic: str, asked: Asked, answer: Answered) -> None:
        index = asked.partition_index
        header = self.compressed.get((self.ids.get(topic, topic), index))
        header = header or self.compressed.get((topic, index))
        if header is not None and asked.timestamp >= 0 and answer.offset > 0:
            answer.offset, answer.timestamp = 0, header.base_timestamp


class TimesOutliveTheirRecords(FrameRule):
    """ListOffsets returns its first answer for a time for ever."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int, int], tuple[int, int]] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "ListOffsets":
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        for topic, asked, answer in _pairs(seen, message):
            if asked.timestamp >= 0:
                key = (topic, asked.partition_index, asked.timestamp)
                now = (answer.offset, answer.timestamp)
                answer.offset, answer.timestamp = self.found.setdefault(key, now)
        return [encode_response(message, seen.version, correlation_id)]


@answers("LISTO-008", r"largest time: \(offset, time\) is \(5, 900\)", "ListOffsets")
def the_last_of_the_largest_counts(seen: SeenRequest, message: Message) -> None:
    """ListOffsets returns the second of two records with the largest time in a batch."""
    for _, asked, answer in _pairs(seen, message):
        if asked.timestamp == MAX_TIMESTAMP and answer.offset >= 0:
            answer.offset += 1


@answers(
    "LISTO-009", r"timestamp -4: error is NONE \(0\), expected UNSUPPORTED_VERSION", "ListOffsets"
)
def earliest_local_is_known_too_early(seen: SeenRequest, message: Message) -> None:
    """ListOffsets answers -4 at versions that do not have it."""
    for _, asked, answer in _pairs(seen, message):
        if asked.timestamp == EARLIEST_LOCAL:
            answer.error_code = ErrorCode.NONE


@takes("LISTO-012", r"error is NONE \(0\), expected UNKNOWN_LEADER_EPOCH", ListOffsetsRequest)
def the_leader_epoch_of_a_question_is_not_checked(request: ListOffsetsRequest) -> None:
    """ListOffsets ignores the leader epoch of the request."""
    for topic in request.topics:
        for partition in topic.partitions:
            partition.current_leader_epoch = -1


@answers("LISTO-013", r"partition 0: error is NONE \(0\), expected INVALID_REQUEST", "ListOffsets")
def a_partition_may_be_asked_twice(seen: SeenRequest, message: Message) -> None:
    """ListOffsets answers a partition that is named twice without an error."""
    assert isinstance(message, ListOffsetsResponse)
    for topic in message.topics:
        for answer in topic.partitions:
            if answer.error_code == ErrorCode.INVALID_REQUEST:
                answer.error_code, answer.offset = ErrorCode.NONE, 0


@answers(
    "LISTO-016", r"yesterday: error is NONE \(0\), expected UNSUPPORTED_FOR_MES", "ListOffsets"
)
def a_log_without_times_has_no_record_of_that_time(_: SeenRequest, message: Message) -> None:
    """ListOffsets finds no record, without an error, in a log without times."""
    assert isinstance(message, ListOffsetsResponse)
    for topic in message.topics:
        for answer in topic.partitions:
            if answer.error_code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT:
                answer.error_code = ErrorCode.NONE


DEFECTS = [
    a_log_without_times_has_no_record_of_that_time,
    latest_is_the_last_record,
    segments_come_oldest_first,
    the_earliest_is_not_alone,
    the_time_asked_is_the_time_answered,
    no_record_is_the_first_record,
    rule(
        "LISTO-006",
        r"compression (gzip|snappy|lz4|zstd), time 150: \(offset, time\) is \(0, 100\)",
        CompressedBatchesAreNotOpened,
    ),
    the_last_of_the_largest_counts,
    rule("LISTO-015", r"below 3 deleted: time 0: .* is \(2, 300\)", TimesOutliveTheirRecords),
    earliest_local_is_known_too_early,
    the_leader_epoch_of_a_question_is_not_checked,
    a_partition_may_be_asked_twice,
]
