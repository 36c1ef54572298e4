"""Defects of area STOR: too much or too little of a log is removed, or at the wrong place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from harness.client.requests import EARLIEST, LATEST
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    DescribeLogDirsResponse,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_request import takes
from labs.defects.newest_topic import NewestTopic, of_newest
from suites.durability.support.segments import DAY_MS

Answered = ListOffsetsResponse.ListOffsetsPartitionResponse


def answered(newest: NewestTopic, seen: SeenRequest, answer: Message, time: int) -> list[Answered]:
    """The newest topic's partitions in an answer to ListOffsets for this time."""
    asked = seen.message
    if not isinstance(asked, ListOffsetsRequest) or not isinstance(answer, ListOffsetsResponse):
        return []
    wanted = {
        partition.partition_index
        for topic in asked.topics
        for partition in topic.partitions
        if topic.name == newest.name and partition.timestamp == time
    }
    return [
        partition
        for topic in answer.topics
        for partition in topic.partitions
        if topic.name == newest.name and partition.partition_index in wanted
    ]


def having(**configs: str) -> Callable[[NewestTopic], bool]:
    """Make a condition: True if the newest topic has these configs (dots written as ``__``)."""
    named = {name.replace("__", "."): value for name, value in configs.items()}
    return lambda newest: named.items() <= newest.configs.items()


def _of_002(newest: NewestTopic) -> bool:
    wanted = newest.configs.get("retention.bytes")
    return wanted not in (None, "1") and "retention.ms" not in newest.configs


OF_003, OF_007 = having(retention__ms=str(DAY_MS)), having(retention__ms=str(2 * DAY_MS))
OF_004 = having(retention__ms="-1")
OF_NO_BYTES = having(retention__bytes="0")
OF_008 = having(segment__bytes=str(1024 * 1024))
OF_016 = having(cleanup__policy="compact,delete", retention__ms=str(DAY_MS))
OF_016_BYTES = having(cleanup__policy="compact,delete", min__cleanable__dirty__ratio="1")
OF_025 = having(cleanup__policy="compact", retention__bytes="1")
OF_026 = having(retention__bytes="-1", retention__ms="-1")


class WhatIsConsumedIsGone(FrameRule):
    """Records that a group has read and committed are out of range, as in a queue."""

    def __init__(self) -> None:
        self.committed = False

    def on_request(self, seen: SeenRequest) -> bytes | None:
        self.committed |= isinstance(seen.message, OffsetCommitRequest)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "Fetch" or seen.message is None:
            return [payload]
        return [edited(seen, payload, self._remove)]

    def _remove(self, _: SeenRequest, message: Message) -> None:
        for one in _fetched(message):
            if self.committed and b"consumed" in bytes(one.records or b""):
                one.error_code, one.records = ErrorCode.OFFSET_OUT_OF_RANGE, b""


def _fetched(message: Message) -> list[FetchResponse.PartitionData]:
    assert isinstance(message, FetchResponse)
    return [one for topic in message.responses for one in topic.partitions]


@of_newest("STOR-002", r"the log begins at \d+, segments at")
def a_log_is_cut_within_a_segment(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """Retention removes exactly the excess records, even inside a segment."""
    for one in answered(newest, seen, answer, EARLIEST) if _of_002(newest) else ():
        one.offset += one.offset > 0


@of_newest("STOR-003", r"looked at again, the logs begin at \[2, 2, 1\]")
def the_last_record_decides(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """Retention removes a segment by the age of its last record, though another one is young."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_003(newest) else ():
        if one.partition_index == 1:
            one.offset = 2


@of_newest("STOR-004", r"too much is gone: \d+ bytes are wanted, from 3 on")
def one_segment_more_goes(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """Retention removes segments until less than retention.bytes is left."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_004(newest) else ():
        if one.partition_index == 1:
            one.offset += one.offset == 2


@of_newest("STOR-004", r"0 bytes are wanted, the log of 4 records begins at 0")
def no_bytes_are_all_bytes(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """A retention.bytes of 0 is no limit."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_NO_BYTES(newest) else ():
        one.offset = 0


@of_newest("STOR-007", r"all is too old: earliest and latest are \(6, 0\)")
def an_empty_log_ends_at_0(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """The end of a log is 0 after all its records are removed."""
    for one in answered(newest, seen, answer, LATEST) if OF_007(newest) else ():
        one.offset *= one.offset > 6


@of_newest("STOR-008", r"two halves of segment.bytes: the segment begins at 1, expected 0")
def a_segment_is_never_full(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """A batch that would fill a segment to the last byte begins another one."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_008(newest) else ():
        one.offset += one.offset == 0


@of_newest("STOR-016", r"two records are too old, the log begins at 0")
def what_is_compacted_is_not_cut(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """The broker follows only the first of two cleanup policies."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_016(newest) else ():
        one.offset = 0


@of_newest("STOR-016", r"two have retention\.bytes, the log begins at 0")
def what_is_compacted_has_any_size(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """Of a log that is compacted and deleted the broker ignores retention.bytes."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_016_BYTES(newest) else ():
        one.offset = 0


@of_newest("STOR-025", r"cleanup.policy is compact, the log begins at 3")
def what_is_compacted_expires(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """Retention cuts a log with the policy compact alone, too."""
    for one in answered(newest, seen, answer, EARLIEST) if OF_025(newest) else ():
        one.offset = 3


@of_newest("STOR-026", r"behind the log starts are \{0: \d+, 1: \d+, 2: \d+\} bytes, expected")
def deleted_records_keep_their_bytes(newest: NewestTopic, _: SeenRequest, answer: Message) -> None:
    """Segments below the log start stay as long as retention permits."""
    if not OF_026(newest) or not isinstance(answer, DescribeLogDirsResponse):
        return
    for directory in answer.results:
        for topic in directory.topics:
            for one in topic.partitions if topic.name == newest.name else ():
                one.partition_size *= 2


@of_newest("STOR-029", r"the compacted log has \d+ bytes, Fetch returns")
def compacted_segments_keep_their_bytes(
    newest: NewestTopic, _: SeenRequest, answer: Message
) -> None:
    """The size of a compacted log counts the segments before the compaction."""
    if isinstance(answer, DescribeLogDirsResponse):
        for directory in answer.results:
            for topic in directory.topics:
                for one in topic.partitions if topic.name == newest.name else ():
                    one.partition_size += 1


@takes("STOR-033", r"changed to a day, the log begins at 0")
def retention_is_that_of_the_creation(request: AlterConfigsRequest) -> None:
    """A topic keeps the retention.ms with which it was created."""
    for resource in request.resources:
        for config in resource.configs:
            if (config.name, config.value) == ("retention.ms", str(DAY_MS)):
                config.value = "-1"


DEFECTS = [
    rule("STOR-001", r"nothing at 0; .*error is OFFSET_OUT_OF_RANGE", WhatIsConsumedIsGone),
    *(
        replace(made, private=True)
        for made in (
            a_log_is_cut_within_a_segment,
            the_last_record_decides,
            retention_is_that_of_the_creation,
            one_segment_more_goes,
    no_bytes_are_all_bytes,
            changed_field("STOR-006", "a_removed_offset_is_empty",
                r"are removed: 0 bytes, not those|error is NONE \(0\), expected",
                "Fetch of a removed offset returns no records and no error.",
                FetchResponse, "responses.partitions.error_code",
                ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.NONE, also={"records": b""}),
            an_empty_log_ends_at_0,
            a_segment_is_never_full,
            what_is_compacted_is_not_cut,
            what_is_compacted_has_any_size,
            what_is_compacted_expires,
            compacted_segments_keep_their_bytes,
            deleted_records_keep_their_bytes,
        )
    ),
]  # fmt: skip
