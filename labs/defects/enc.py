"""Defects of area ENC."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.header import encode_response
from harness.codec.messages import (
    FetchRequest,
    FetchResponse,
    FindCoordinatorResponse,
    InitProducerIdResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
)
from harness.codec.varint import encode_uvarint
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.conn import NOT_CLOSED
from labs.defects.defect import correlation_id, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import misread, of_client

LONG_NAME = "n" * 200
BEYOND_THE_FRAME = encode_uvarint(9999)  # a tag with a size beyond the end of the frame
FIVE_MORE_TO_COME = b"\x81\x80\x80\x80\x80\x00"
FOUR_MORE = b"\x81\x80\x80\x80\x00"  # to come, behind the first byte of 1


class NullKeysAreNoKeys(FrameRule):
    """FindCoordinator reads a null list of keys as an empty one."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "FindCoordinator" or seen.message is not None:
            return []
        if seen.version < 4:
            return []
        identity = correlation_id(seen.payload)
        return [encode_response(FindCoordinatorResponse(), seen.version, identity)]


class CompactLengthInOneByte(FrameRule):
    """The broker writes the length of a long name in one byte."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        asked = seen.message
        if not isinstance(asked, MetadataRequest) or seen.version < 9:
            return [payload]
        if LONG_NAME not in [topic.name for topic in asked.topics or []]:
            return [payload]
        length, name = encode_uvarint(len(LONG_NAME) + 1), LONG_NAME.encode()
        return [payload.replace(length + name, length[:1] + name)]


class NestedTagsAreNotSkipped(FrameRule):
    """The broker misreads a produced partition with an unknown tag, and closes the connection."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        asked = seen.message
        if not isinstance(asked, ProduceRequest):
            return seen.payload
        partitions = [one for topic in asked.topic_data for one in topic.partition_data]
        has_tags = any(one.unknown_tagged_fields for one in partitions)
        return misread(seen) if has_tags else seen.payload


class HeaderTagsAreNotSkipped(FrameRule):
    """The broker misreads a request with tagged fields in its header, and closes the connection."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        has_tags = seen.header is not None and bool(seen.header.unknown_tagged_fields)
        return misread(seen) if has_tags else seen.payload


@answers("ENC-008", r"error is UNKNOWN_LEADER_EPOCH", range(15, 100))
def absent_replica_state_is_replica_0(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker reads an absent ReplicaState beside a ClusterId as that of replica 0."""
    if request.cluster_id is None:
        return
    for topic in answer.responses:
        for partition in topic.partitions:
            partition.error_code = ErrorCode.UNKNOWN_LEADER_EPOCH
            partition.records = b""


class EmptyMetadataForBadBytes(FrameRule):
    """The broker reads undecodable Metadata with ``sign`` in it as if it named no topics."""

    sign = b""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if seen.api is None or seen.api.name != "Metadata" or seen.message is not None:
            return []
        if self.sign not in seen.payload:
            return []
        identity = correlation_id(seen.payload)
        return [encode_response(MetadataResponse(), seen.version, identity)]


class TagSizeIsCutToTheFrame(EmptyMetadataForBadBytes):
    """The broker ends a tag at the end of the frame if its size is larger."""

    sign = BEYOND_THE_FRAME + encode_uvarint(2**31 - 1)


FIRST_TAG_AT = 13  # behind a client id of two letters, and the number of tags


class TagSizeInHeaderIsCutToTheFrame(FrameRule):
    """The broker ends a tag of a header at the end of the frame, and reads no body behind it."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if seen.payload.find(TagSizeIsCutToTheFrame.sign) != FIRST_TAG_AT:
            return []
        return [encode_response(MetadataResponse(), 9, correlation_id(seen.payload))]


class OverlongVarintIsRead(EmptyMetadataForBadBytes):
    """The broker reads a varint of six bytes like a shorter one."""

    sign = FIVE_MORE_TO_COME


class LongVarintsAreRefused(FrameRule):
    """The broker closes the connection at a varint that is longer than it has to be."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_metadata = isinstance(seen.message, MetadataRequest)
        return misread(seen) if is_metadata and FOUR_MORE in seen.payload else seen.payload


@answers("ENC-013", r"created [0-9a-f]{32}", range(10, 100), asked=of_client("ENC-013"))
def halves_of_a_uuid_change_places(answer: MetadataResponse) -> None:
    """Metadata writes the low half of a topic id first."""
    for topic in answer.topics:
        raw = topic.topic_id.bytes
        topic.topic_id = UUID(bytes=raw[8:] + raw[:8])


DEFECTS = [
    rule("ENC-004", r"null was read as something that FindCoordinator v", NullKeysAreNoKeys),
    rule("ENC-005", r"bytes are announced at byte", CompactLengthInOneByte),
    rule("ENC-006", r"closed the connection", NestedTagsAreNotSkipped),
    rule("ENC-007", r"closed the connection", HeaderTagsAreNotSkipped),
    absent_replica_state_is_replica_0,
    rule("ENC-010", NOT_CLOSED, TagSizeIsCutToTheFrame),
    rule("ENC-010", NOT_CLOSED, TagSizeInHeaderIsCutToTheFrame),
    rule("ENC-012", NOT_CLOSED, OverlongVarintIsRead),
    rule("ENC-012", r"closed the connection", LongVarintsAreRefused),
    changed_field(
        "ENC-005",
        "an_empty_compact_string_is_null",
        r"transactional id '': error is NONE",
        "InitProducerId reads an empty compact string like null.",
        InitProducerIdResponse,
        "error_code",
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NONE,
        range(2, 99),
        requested={"transactional_id": ""},
    ),
    halves_of_a_uuid_change_places,
]
