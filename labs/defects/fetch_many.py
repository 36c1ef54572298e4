"""Defects of area FETCH: many partitions in a request, limits and turns in a session."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes, with_body

TOPICS = 2  # of the request about many partitions
SMALL_ROOM_BYTES = 1 << 10


@answers("FETCH-042", r"\('(a', 0|b', 1)\): error and values are \('NONE \(0\)', \[\]\)")
def an_error_hides_the_records_behind_it(request: FetchRequest, answer: FetchResponse) -> None:
    """A partition in error leaves those without records that the response has after it."""
    if len(request.topics) != TOPICS:
        return
    partitions = [data for topic in answer.responses for data in topic.partitions]
    if any(data.error_code for data in partitions):
        for data in partitions[1:]:
            data.records = b""


@answers("FETCH-042", r"1 is in zstd: .*\('a', 0\): \('UNSUPPORTED_COMPRESSION_TYPE", range(4))
def no_partition_is_converted(answer: FetchResponse) -> None:
    """A partition without an old form fails the conversion of all others of the response."""
    refusal = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    for topic in answer.responses:
        if any(data.error_code == refusal for data in topic.partitions):
            for data in topic.partitions:
                data.error_code, data.records = refusal, b""


@takes(
    "FETCH-042",
    r"\('a', 0\): error and values are .*\[b'a-0 at 2'\]"
    r"|\('(a', 2|b', 1)\): error and values are \('OFFSET_OUT_OF_RANGE",
)
def the_first_offset_is_that_of_all(request: FetchRequest) -> None:
    """The broker reads all partitions of a topic from the offset of the first one."""
    if len(request.topics) == TOPICS:
        for topic in request.topics:
            for partition in topic.partitions:
                partition.fetch_offset = topic.partitions[0].fetch_offset


class RoomIsThatOfTheOpening(FrameRule):
    """A session keeps the partition_max_bytes with which a partition entered it."""

    def __init__(self) -> None:
        self.limit_bytes = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        request = seen.message
        if not isinstance(request, FetchRequest) or not request.topics:
            return seen.payload
        partitions = request.topics[0].partitions
        if request.session_epoch == 0:
            self.limit_bytes = partitions[0].partition_max_bytes
        elif request.session_epoch > 0 and self.limit_bytes < SMALL_ROOM_BYTES:
            for partition in partitions:
                partition.partition_max_bytes = self.limit_bytes
            return with_body(seen, request)
        return seen.payload


@answers("FETCH-044", r"of six fetches are \[\[0\], \[\], ")
def only_the_first_partition_has_a_turn(seen: SeenRequest, answer: FetchResponse) -> None:
    """A session with little room returns records of partition 0 alone."""
    request = seen.message
    assert isinstance(request, FetchRequest)
    if request.session_epoch > 0 and request.max_bytes < SMALL_ROOM_BYTES:
        for topic in answer.responses:
            for data in topic.partitions:
                if data.partition_index > 0:
                    data.records = b""


@takes("FETCH-045", r"answered after \d+ ms, max_wait_ms is")
def min_bytes_need_no_room(request: FetchRequest) -> None:
    """The broker waits for min_bytes, however few max_bytes are."""
    if request.max_bytes == 1 and request.min_bytes > 1:
        request.max_bytes = request.min_bytes


@takes("FETCH-045", r"bytes came where nothing was to be sent")
def min_bytes_above_max_bytes_are_none(request: FetchRequest) -> None:
    """The broker does not wait at all if min_bytes are more than max_bytes."""
    if request.min_bytes > request.max_bytes > 1 and request.session_epoch < 0:
        request.min_bytes = 0


@answers("FETCH-028", r"partition 1 starts at 1 now: .* is \[\]")
def a_moved_log_start_is_no_change(request: FetchRequest, answer: FetchResponse) -> None:
    """An incremental answer leaves out a partition of which only the log start has moved."""
    if request.session_epoch <= 0:
        return
    for topic in answer.responses:
        topic.partitions = [
            data
            for data in topic.partitions
            if data.records or data.error_code != ErrorCode.NONE or data.log_start_offset <= 0
        ]


@answers("FETCH-012", r"an offset out of range first: whole batches of \[\]", range(4, 99))
def an_error_is_the_first_batch(request: FetchRequest, answer: FetchResponse) -> None:
    """No batch is larger than max_bytes if a partition before it is in error."""
    named = [one for topic in answer.responses for one in topic.partitions]
    if request.max_bytes != 1 or not named or named[0].error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
        return
    for one in named:
        one.records = b""


DEFECTS = [
    an_error_is_the_first_batch,
    an_error_hides_the_records_behind_it,
    the_first_offset_is_that_of_all,
    no_partition_is_converted,
    rule("FETCH-043", r"partition 0 gets more room: \{0: 1, 1: 1\}", RoomIsThatOfTheOpening),
    only_the_first_partition_has_a_turn,
    min_bytes_need_no_room,
    min_bytes_above_max_bytes_are_none,
    a_moved_log_start_is_no_change,
]
