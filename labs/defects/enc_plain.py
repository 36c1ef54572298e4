"""Defects of area ENC in the versions that are not flexible."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ListOffsetsResponse,
    MetadataResponse,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import answers, rule
from labs.defects.one_client import is_from

COUNT_AT = 6  # behind correlation id and error code
HEADER_BYTES = 4


@answers("ENC-001", r"offset\) is .*, expected", "ListOffsets", range(1, 6))
def timestamps_are_little_endian(seen: SeenRequest, message: Message) -> None:
    """ListOffsets writes the low byte of a timestamp first."""
    assert isinstance(message, ListOffsetsResponse)
    if not is_from(seen, "ENC-001"):
        return
    for topic in message.topics:
        for one in topic.partitions:
            (one.timestamp,) = struct.unpack("<q", struct.pack(">q", one.timestamp))


@answers("ENC-002", r"length bytes 0000: error is NONE", "InitProducerId", range(2))
def empty_string_is_read_as_null(seen: SeenRequest, message: Message) -> None:
    """The broker reads an empty transactional id as null."""
    assert isinstance(seen.message, InitProducerIdRequest)
    assert isinstance(message, InitProducerIdResponse)
    if is_from(seen, "ENC-002") and seen.message.transactional_id == "":
        message.error_code = ErrorCode.NONE


class CountIsOneTooMany(FrameRule):
    """ApiVersions writes the count of an array one too high."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_table = seen.api is not None and seen.api.name == "ApiVersions"
        if not is_table or not is_from(seen, "ENC-003"):
            return [payload]
        (count,) = struct.unpack_from(">i", payload, COUNT_AT)
        more = struct.pack(">i", count + 1)
        return [payload[:COUNT_AT] + more + payload[COUNT_AT + len(more) :]]


@answers("ENC-011", r"isr_nodes is \[\] at v0", "Metadata", range(1))
def first_version_has_no_isr(_seen: SeenRequest, message: Message) -> None:
    """Metadata v0 leaves out the in-sync replicas, which later versions contain."""
    assert isinstance(message, MetadataResponse)
    for topic in message.topics:
        for partition in topic.partitions:
            partition.isr_nodes = []


class NeverFlexibleApiWithTags(FrameRule):
    """The broker answers SaslHandshake with the header of flexible versions."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_handshake = seen.api is not None and seen.api.name == "SaslHandshake"
        if is_handshake and is_from(seen, "ENC-014"):
            payload = payload[:HEADER_BYTES] + b"\0" + payload[HEADER_BYTES:]
        return [payload]


DEFECTS = [
    timestamps_are_little_endian,
    empty_string_is_read_as_null,
    rule("ENC-003", r"2 bytes are announced at byte", CountIsOneTooMany),
    first_version_has_no_isr,
    rule("ENC-014", r"bytes are announced at byte", NeverFlexibleApiWithTags),
]
