"""Defects of area FETCH."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from harness.codec import encode
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_request_header
from harness.codec.messages import FetchRequest, FetchResponse
from harness.codec.records import decode_batches, split_batches
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from tests.defects.defect import Defect, answers, rule

WAITING_LONG_MS = 1000
ONE_VERSION = 12  # where a defect makes the tests wait, it does so at one version only
FIRST_SESSION_EPOCH = 1


def _partitions(message: Message) -> list[FetchResponse.PartitionData]:
    assert isinstance(message, FetchResponse)
    return [partition for topic in message.responses for partition in topic.partitions]


def _asked(seen: SeenRequest) -> list[FetchRequest.FetchPartition]:
    """The partitions that the request names, in its order."""
    request = seen.message
    if not isinstance(request, FetchRequest):
        return []
    return [partition for topic in request.topics for partition in topic.partitions]


def _pairs(
    seen: SeenRequest, message: Message
) -> list[tuple[FetchRequest.FetchPartition, FetchResponse.PartitionData]]:
    """What was asked with what is answered, of requests for one topic."""
    by_index = {data.partition_index: data for data in _partitions(message)}
    return [(p, by_index[p.partition]) for p in _asked(seen) if p.partition in by_index]


def _request(seen: SeenRequest) -> FetchRequest:
    assert isinstance(seen.message, FetchRequest)
    return seen.message


def asks(
    requirement: str, reason: str, versions: range | None = None
) -> Callable[[Callable[[FetchRequest], None]], Defect]:
    """A defect of a broker that takes a Fetch for another: the function edits the request."""

    def make(edit: Callable[[FetchRequest], None]) -> Defect:
        class EditFetches(FrameRule):
            def on_request(self, seen: SeenRequest) -> bytes | None:
                request = seen.message
                if not isinstance(request, FetchRequest):
                    return seen.payload
                if versions is not None and seen.version not in versions:
                    return seen.payload
                _, start = decode_request_header(seen.payload)
                edit(request)
                return seen.payload[:start] + encode(request, seen.version)

        EditFetches.__name__, EditFetches.__doc__ = edit.__name__, edit.__doc__
        return rule(requirement, reason, EditFetches)

    return make


# -- offsets ---------------------------------------------------------------------------------------


@answers("FETCH-001", r"the first batch is 6 to 8", "Fetch")
def an_offset_inside_a_batch_skips_the_batch(seen: SeenRequest, message: Message) -> None:
    """An offset inside a batch is read from the batch after it."""
    for asked, data in _pairs(seen, message):
        found = split_batches(data.records or b"")
        if len(found) == 2 and found[0][0].base_offset < asked.fetch_offset:
            data.records = (data.records or b"")[found[1][1] :]


@answers("FETCH-004", r"error is NONE \(0\), expected OFFSET_OUT_OF_RANGE", "Fetch")
def an_offset_before_the_log_is_empty(seen: SeenRequest, message: Message) -> None:
    """An offset below the log start is answered without an error."""
    for asked, data in _pairs(seen, message):
        if asked.fetch_offset < 0 and data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            data.error_code, data.records = ErrorCode.NONE, b""


@answers("FETCH-005", r"at the log end \d: error is OFFSET_OUT_OF_RANGE", "Fetch")
def the_log_end_is_out_of_range(seen: SeenRequest, message: Message) -> None:
    """A fetch at the end of a log with nine records is refused."""
    for asked, data in _pairs(seen, message):
        waits = _request(seen).max_wait_ms > 0
        if asked.fetch_offset == data.high_watermark == 9 and data.log_start_offset != 0 or waits:
            continue
        if asked.fetch_offset == data.high_watermark == 9:
            data.error_code = ErrorCode.OFFSET_OUT_OF_RANGE


@answers("FETCH-024", r"log start offset -1, the earliest is 0", "Fetch")
def the_log_start_is_left_out(seen: SeenRequest, message: Message) -> None:
    """At the log end the log start offset is not filled in."""
    for asked, data in _pairs(seen, message):
        if asked.fetch_offset == data.high_watermark and data.error_code == ErrorCode.NONE:
            data.log_start_offset = -1


class RecordsAreReadOnce(FrameRule):
    """What one client has read four times is gone for it."""


@answers("FETCH-040", r"bytes of four fetches of one range: \[\d+, \d+, \d+, 0\]", "Fetch")
def placeholder(seen: SeenRequest, message: Message) -> None:
    """x"""
