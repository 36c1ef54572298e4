"""Defects of area ENC in the versions that are not flexible."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    InitProducerIdResponse,
    ListOffsetsResponse,
    MetadataResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, of_client

COUNT_AT = 6  # behind correlation id and error code
HEADER_BYTES = 4


@answers("ENC-001", r"offset\) is .*, expected", range(1, 6))
def timestamps_are_little_endian(seen: SeenRequest, answer: ListOffsetsResponse) -> None:
    """ListOffsets writes the low byte of a timestamp first."""
    if not is_from(seen, "ENC-001"):
        return
    for topic in answer.topics:
        for one in topic.partitions:
            (one.timestamp,) = struct.unpack("<q", struct.pack(">q", one.timestamp))


class CountIsOneTooMany(FrameRule):
    """ApiVersions writes the count of an array one too high."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_table = seen.api is not None and seen.api.name == "ApiVersions"
        if not is_table or not is_from(seen, "ENC-003"):
            return [payload]
        (count,) = struct.unpack_from(">i", payload, COUNT_AT)
        more = struct.pack(">i", count + 1)
        return [payload[:COUNT_AT] + more + payload[COUNT_AT + len(more) :]]


class NeverFlexibleApiWithTags(FrameRule):
    """The broker answers SaslHandshake with the header of flexible versions."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_handshake = seen.api is not None and seen.api.name == "SaslHandshake"
        if is_handshake and is_from(seen, "ENC-014"):
            payload = payload[:HEADER_BYTES] + b"\0" + payload[HEADER_BYTES:]
        return [payload]


DEFECTS = [
    timestamps_are_little_endian,
    changed_field("ENC-002", "empty_string_is_read_as_null", r"length bytes 0000: error is NONE",
        "The broker reads an empty transactional id as null.",
        InitProducerIdResponse, "error_code",
        ANY, ErrorCode.NONE, range(2), requested={"transactional_id": ""},
        asked=of_client("ENC-002")),
    rule("ENC-003", r"2 bytes are announced at byte", CountIsOneTooMany),
    changed_field("ENC-011", "first_version_has_no_isr", r"isr_nodes is \[\] at v0",
        "Metadata v0 leaves out the in-sync replicas, which later versions contain.",
        MetadataResponse, "topics.partitions.isr_nodes", ANY, [], range(1)),
    rule("ENC-014", r"bytes are announced at byte", NeverFlexibleApiWithTags),
]  # fmt: skip
