"""Defects of area LISTO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from harness.client.requests import EARLIEST, LATEST, MAX_TIMESTAMP
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    CreateTopicsRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataResponse,
    ProduceRequest,
)
from harness.codec.records import BATCH_HEADER_BYTES, BatchHeader
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes

EARLIEST_LOCAL, LATEST_TIERED = -4, -5
STAMPED_RECORDS = 3  # of each batch of the LogAppendTime topic
OFFSET_IN_A_GAP = 10  # of a record that compaction left behind the base offset of its batch
MANY_TOPICS = 3  # of the request about many partitions
Asked = ListOffsetsRequest.ListOffsetsPartition
Answered = ListOffsetsResponse.ListOffsetsPartitionResponse


def _pairs(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> list[tuple[str, Asked, Answered]]:
    """Topic, request and answer of each partition, if the request is about one topic."""
    if len(request.topics) != 1:
        return []
    given = {answer.partition_index: answer for t in message.topics for answer in t.partitions}
    topic = request.topics[0]
    return [
        (topic.name, asked, given[asked.partition_index])
        for asked in topic.partitions
        if asked.partition_index in given
    ]


@answers("LISTO-001", r"of 6 records are \(0, 5\)|for read_committed is 5", range(1, 11))
def latest_is_the_last_record(request: ListOffsetsRequest, message: ListOffsetsResponse) -> None:
    """The latest offset is that of the last record, not the next one."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp == LATEST and answer.offset > 0:
            answer.offset -= 1


def _lists(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> list[tuple[Asked, list[int]]]:
    """Request and list of offsets of each partition, as in version 0."""
    return [(asked, answer.old_style_offsets) for _, asked, answer in _pairs(request, message)]


@answers("LISTO-002", r"offsets \[0, 3, 6, 9\], expected \[9, 6, 3, 0\]", range(1))
def segments_come_oldest_first(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """Version 0 lists the base offsets of segments in the order of the log."""
    for _, offsets in _lists(request, answer):
        offsets.reverse()


@answers("LISTO-002", r"of an empty log the offsets are \[0, 0\]", range(1))
def end_and_begin_are_both_listed(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """Version 0 lists the log end of an empty log beside its begin."""
    for asked, offsets in _lists(request, answer):
        if asked.timestamp == LATEST and offsets == [0] and asked.max_num_offsets > 1:
            offsets.append(0)


@answers("LISTO-003", r"at most 10: earliest is \[1, 0\]", range(1))
def the_earliest_is_not_alone(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """Version 0 returns the earliest offset with the next one if it may return two."""
    for asked, offsets in _lists(request, answer):
        if asked.timestamp == EARLIEST and asked.max_num_offsets > 1:
            offsets.insert(0, offsets[0] + 1)


@answers("LISTO-004", r"time -?\d+: \(offset, time\) is \(0, -?\d+\), expected \(0, 100\)")
def the_time_asked_is_the_time_answered(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """The answer for a time before the first record repeats the time of the request."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp >= 0 and answer.offset == 0:
            answer.timestamp = asked.timestamp


@answers("LISTO-005", r"\(offset, time\) is \(0, -1\), expected \(-1, -1\)", range(1, 99))
def no_record_is_the_first_record(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """ListOffsets answers a time after all records with offset 0."""
    for _, asked, answer in _pairs(request, message):
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
        assert isinstance(seen.message, ListOffsetsRequest)
        assert isinstance(message, ListOffsetsResponse)
        for topic, asked, answer in _pairs(seen.message, message):
            self._edit(topic, asked, answer)
        return [encode_response(message, seen.version, correlation_id)]

    def _edit(self, topic: str, asked: Asked, answer: Answered) -> None:
        index = asked.partition_index
        header = self.compressed.get((self.ids.get(topic, topic), index))
        header = header or self.compressed.get((topic, index))
        if header is not None and asked.timestamp >= 0 and answer.offset > 0:
            answer.offset, answer.timestamp = 0, header.base_timestamp


@answers("LISTO-018", r"codec \w+, time \d+: \(offset, time\) is \(9, ")
def a_compacted_batch_has_no_gaps(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """ListOffsets numbers the records that compaction left of a batch from its base offset on."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp >= 0 and answer.offset == OFFSET_IN_A_GAP:
            answer.offset = OFFSET_IN_A_GAP - 1


class TheLastOfAStampedBatchIsFound(FrameRule):
    """ListOffsets finds the last of the records that a LogAppendTime topic gave the same time."""

    def __init__(self) -> None:
        self._stamped: set[str] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if isinstance(request, CreateTopicsRequest):
            for topic in request.topics:
                if any(one.value == "LogAppendTime" for one in topic.configs):
                    self._stamped.add(topic.name)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if seen.api is None or not isinstance(request, ListOffsetsRequest):
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(message, ListOffsetsResponse)
        for topic, asked, answer in _pairs(request, message):
            if topic in self._stamped and asked.timestamp >= 0 and answer.offset >= 0:
                answer.offset += STAMPED_RECORDS - 1
        return [encode_response(message, seen.version, correlation_id)]


class TimesOutliveTheirRecords(FrameRule):
    """ListOffsets returns its first answer for a time for ever."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, int, int], tuple[int, int]] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "ListOffsets":
            return [payload]
        correlation_id, message = decode_response(seen.api, seen.version, payload)
        assert isinstance(seen.message, ListOffsetsRequest)
        assert isinstance(message, ListOffsetsResponse)
        for topic, asked, answer in _pairs(seen.message, message):
            if asked.timestamp >= 0:
                key = (topic, asked.partition_index, asked.timestamp)
                now = (answer.offset, answer.timestamp)
                answer.offset, answer.timestamp = self.found.setdefault(key, now)
        return [encode_response(message, seen.version, correlation_id)]


@answers("LISTO-008", r"largest time: \(offset, time\) is \(5, 900\)")
def the_last_of_the_largest_counts(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """ListOffsets returns the second of two records with the largest time in a batch."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp == MAX_TIMESTAMP and answer.offset >= 0:
            answer.offset += 1


@answers("LISTO-020", r"codec \w+: \(offset, time\) is \(5, ", range(7, 99))
def the_last_of_a_stamped_batch_is_the_newest(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """ListOffsets returns for -3 the last record of a batch with the broker's time."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp == MAX_TIMESTAMP and answer.offset == STAMPED_RECORDS:
            answer.offset += STAMPED_RECORDS - 1


@answers("LISTO-021", r"timestamp -5: \(offset, time\) is \(0, -1\)", range(9, 99))
def nothing_tiered_is_offset_0(request: ListOffsetsRequest, message: ListOffsetsResponse) -> None:
    """ListOffsets returns offset 0 for -5 if nothing is tiered."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp == LATEST_TIERED and answer.offset == -1:
            answer.offset = 0


@answers("LISTO-009", r"timestamp -4: error is NONE \(0\), expected UNSUPPORTED_VERSION")
def earliest_local_is_known_too_early(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """ListOffsets answers -4 at versions that do not have it."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp == EARLIEST_LOCAL:
            answer.error_code = ErrorCode.NONE


@takes(
    "LISTO-017",
    r"partition [01] of 4, time .*: \(offset, time\) is \(1, \d+\)"
    r"|partition 0 of 2, time -2: \(offset, time\) is \(\d+, -1\)",
    range(1, 99),
)
def the_first_time_is_that_of_all(request: ListOffsetsRequest) -> None:
    """The broker looks for the time of the first partition in all partitions of a topic."""
    if len(request.topics) == MANY_TOPICS:
        for topic in request.topics:
            for partition in topic.partitions:
                partition.timestamp = topic.partitions[0].timestamp


@answers("LISTO-010", r"below 0 deleted, time \d{13}: leader epoch -1", range(4, 99))
def a_time_has_no_epoch(request: ListOffsetsRequest, message: ListOffsetsResponse) -> None:
    """ListOffsets returns no leader epoch for an offset that it finds by time."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp >= 0:
            answer.leader_epoch = -1


@answers("LISTO-015", r"below 2 deleted: timestamp -4: .* is \(0, -1\)", range(8, 99))
def the_local_log_starts_with_its_batch(
    request: ListOffsetsRequest, message: ListOffsetsResponse
) -> None:
    """The earliest local offset is that of the batch at the log start; batches hold three."""
    for _, asked, answer in _pairs(request, message):
        if asked.timestamp == EARLIEST_LOCAL and answer.offset >= 0:
            answer.offset -= answer.offset % 3


DEFECTS = [
    nothing_tiered_is_offset_0,
    the_last_of_a_stamped_batch_is_the_newest,
    the_first_time_is_that_of_all,
    a_time_has_no_epoch,
    the_local_log_starts_with_its_batch,
    changed_field("LISTO-016", "a_log_without_times_has_no_record_of_that_time",
        r"yesterday: error is NONE \(0\), expected UNSUPPORTED_FOR_MES",
        "ListOffsets finds no record, without an error, in a log without times.",
        ListOffsetsResponse, "topics.partitions.error_code",
        ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, ErrorCode.NONE),
    latest_is_the_last_record,
    segments_come_oldest_first,
    end_and_begin_are_both_listed,
    the_earliest_is_not_alone,
    the_time_asked_is_the_time_answered,
    replace(no_record_is_the_first_record, also=("LISTO-007", "LISTO-019")),
    rule(
        "LISTO-006",
        r"compression (gzip|snappy|lz4|zstd), time (150|300): \(offset, time\) is \(0, 100\)",
        CompressedBatchesAreNotOpened,
    ),
    the_last_of_the_largest_counts,
    rule("LISTO-019", r"codec \w+, time .*: \(offset, time\) is \([25], ",
         TheLastOfAStampedBatchIsFound),
    replace(a_compacted_batch_has_no_gaps, private=True),
    rule("LISTO-015", r"below 3 deleted: time (0|200): .* is \(2, 300\)", TimesOutliveTheirRecords),
    earliest_local_is_known_too_early,
    changed_field("LISTO-012", "the_leader_epoch_of_a_question_is_not_checked",
        r"error is NONE \(0\), expected (UNKNOWN|FENCED)_LEADER_EPOCH",
        "ListOffsets ignores the leader epoch of the request.",
        ListOffsetsRequest, "topics.partitions.current_leader_epoch", ANY, -1),
    changed_field("LISTO-012", "every_negative_epoch_is_none",
        r"epoch -2: epoch -2, .* error is NONE \(0\), expected FENCED_LEADER_EPOCH",
        "ListOffsets takes every negative leader epoch of the request for none.",
        ListOffsetsRequest, "topics.partitions.current_leader_epoch", -2, -1),
    changed_field("LISTO-013", "a_partition_may_be_asked_twice",
        r"partition 0: error is NONE \(0\), expected INVALID_REQUEST",
        "ListOffsets answers a partition that is named twice without an error.",
        ListOffsetsResponse, "topics.partitions.error_code",
        ErrorCode.INVALID_REQUEST, ErrorCode.NONE, also={"offset": 0}),
]  # fmt: skip
