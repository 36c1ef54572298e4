"""Defects of areas RECV, LDIR and STOR: full disks, and disks that lose a bit."""

from __future__ import annotations

import struct
from dataclasses import replace

import google_crc32c

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.records import BATCH_HEADER_BYTES
from labs.defects.edited_answer import answers
from suites.durability.support.failing_disks import VALUE_BYTES
from suites.protocol.support.log_entries import whole_entries

MAGIC_AT, CRC_AT, CHECKED_FROM = 16, 17, 21


def _takes_it(request: ProduceRequest, answer: ProduceResponse) -> None:
    """Acknowledge records as large as those that fill a disk, in any partition."""
    sent = [part for topic in request.topic_data for part in topic.partition_data]
    told = [part for topic in answer.responses for part in topic.partition_responses]
    for part, acknowledged in zip(sent, told, strict=True):
        if len(part.records or b"") > VALUE_BYTES:
            acknowledged.error_code = ErrorCode.NONE


@answers("RECV-017", r"with room again the acknowledged records at \[.*\] are missing")
def it_is_acknowledged_before_it_is_written(
    request: ProduceRequest, answer: ProduceResponse
) -> None:
    """The broker acknowledges a record before the disk has accepted it."""
    _takes_it(request, answer)


@answers("LDIR-008", r"directory that failed it acknowledges more than its disk has")
def a_directory_that_takes_nothing_has_all(
    request: ProduceRequest, answer: ProduceResponse
) -> None:
    """The broker serves a partition from memory when its disk accepts no writes."""
    _takes_it(request, answer)


@answers("STOR-022", r"byte \d+ of entry 1 changed, Fetch v\d+: the changed entry looks")
def checksums_are_made_anew(answer: FetchResponse) -> None:
    """The broker recomputes the checksum of a stored batch when it sends it."""
    for topic in answer.responses:
        for partition in topic.partitions:
            entries, rest = whole_entries(bytes(partition.records or b""))
            if entries:
                partition.records = b"".join(map(_with_checksum, entries)) + rest


def _with_checksum(entry: bytes) -> bytes:
    if len(entry) < BATCH_HEADER_BYTES or entry[MAGIC_AT] != 2:
        return entry
    checksum = struct.pack(">I", google_crc32c.value(entry[CHECKED_FROM:]))
    return entry[:CRC_AT] + checksum + entry[CHECKED_FROM:]


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        it_is_acknowledged_before_it_is_written,
        a_directory_that_takes_nothing_has_all,
        checksums_are_made_anew,
    )
]
