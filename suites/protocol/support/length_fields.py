"""Places in requests where a length stands, to put another one there."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from harness.codec import encode
from harness.codec.apis import api_named
from harness.codec.header import encode_request
from harness.codec.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeTopicPartitionsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetDeleteRequest,
    ProduceRequest,
    SaslHandshakeRequest,
)
from harness.codec.structs import Message, Request
from harness.codec.varint import encode_uvarint
from harness.codec.versions import VersionRange

CORRELATION_ID = 7
WIDTH_BYTES = {"array": 4, "bytes": 4, "string": 2}
PACKED = {4: struct.Struct(">i"), 2: struct.Struct(">h")}
NULL = -1


def with_body(normal: Message, version: int, body: bytes, client_id: str | None = "kc") -> bytes:
    """A request's payload: the header of ``normal`` in front of another body."""
    whole = encode_request(normal, version, CORRELATION_ID, client_id)
    return whole[: -len(encode(normal, version))] + body


@dataclass(frozen=True, slots=True)
class LengthField:
    """The length of an empty value: the request, and where the length is in its body."""

    request: Callable[[int], Request[Message]]
    kind: str  # "array", "bytes" or "string"
    offset: Callable[[int], int]  # below 0: from the body's end
    versions: str = "0+"
    null_since: int | None = None  # the version from which on null is allowed

    @property
    def never_null(self) -> VersionRange:
        """The versions at which the field exists and null is not allowed."""
        versions = VersionRange.parse(self.versions)
        if self.null_since is None:
            return versions
        return versions & VersionRange(0, self.null_since - 1)

    def is_compact(self, api_name: str, version: int) -> bool:
        """True if the field holds the length plus one as an unsigned varint (KIP-482)."""
        return version in api_named(api_name).flexible_versions

    def with_null(self, api_name: str, version: int) -> bytes:
        """The payload with null in place of the empty value."""
        is_compact = self.is_compact(api_name, version)
        return self.with_length(api_name, version, NULL, b"\0" if is_compact else None)

    def with_length(
        self, api_name: str, version: int, length: int, written: bytes | None = None
    ) -> bytes:
        """The payload that announces ``length`` and has nothing there; ``written`` overrides."""
        request = self.request(version)
        body = encode(request, version)
        width = WIDTH_BYTES[self.kind]
        empty, other = bytes(width), PACKED[width]
        if self.is_compact(api_name, version):
            empty = b"\1"
            data = encode_uvarint((length + 1) % (1 << 32)) if written is None else written
        else:
            data = other.pack(length) if written is None else written
        at = self.offset(version) % len(body)
        if body[at : at + len(empty)] != empty:
            raise ValueError(f"{api_name} v{version}: no empty {self.kind} at byte {at}")
        return with_body(request, version, body[:at] + data + body[at + len(empty) :])


def _fetch_topics_at(version: int) -> int:
    """Behind replica id (to v14), times and sizes, isolation level, session (from v7)."""
    widths = [
        (4, version <= 14),
        (8, True),
        (4, version >= 3),
        (1, version >= 4),
        (8, version >= 7),
    ]
    return sum(width for width, is_there in widths if is_there)


def _nameless(version: int) -> MetadataRequest:
    topics = [MetadataRequest.MetadataRequestTopic(name="")]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=version < 4)


def _topic_name_at(version: int) -> int:
    """Behind the count of topics and, from v10, the first one's id."""
    return 17 if version >= 10 else 1 if version == 9 else 4


def _without_records(_version: int) -> ProduceRequest:
    partition = ProduceRequest.PartitionProduceData(index=0, records=b"")
    topic = ProduceRequest.TopicProduceData(partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])


LENGTH_FIELDS = {
    ("Produce", "topics"): LengthField(
        lambda _: ProduceRequest(acks=-1, topic_data=[]),
        "array",
        lambda v: 6 if v < 3 else 8 if v < 9 else 7,
    ),
    ("Produce", "records"): LengthField(
        _without_records, "bytes", lambda _: -4, "3+", null_since=0
    ),
    ("Fetch", "topics"): LengthField(lambda _: FetchRequest(topics=[]), "array", _fetch_topics_at),
    ("ListOffsets", "topics"): LengthField(
        lambda _: ListOffsetsRequest(topics=[]), "array", lambda v: 5 if v >= 2 else 4
    ),
    ("Metadata", "topics"): LengthField(
        lambda v: MetadataRequest(topics=[], allow_auto_topic_creation=v < 4),
        "array",
        lambda _: 0,
        null_since=1,
    ),
    ("Metadata", "name"): LengthField(_nameless, "string", _topic_name_at, "1+", null_since=10),
    ("FindCoordinator", "key"): LengthField(
        lambda _: FindCoordinatorRequest(key=""), "string", lambda _: 0, "0-3"
    ),
    ("FindCoordinator", "keys"): LengthField(
        lambda _: FindCoordinatorRequest(coordinator_keys=[]), "array", lambda _: 1, "4+"
    ),
    ("CreateTopics", "topics"): LengthField(
        lambda _: CreateTopicsRequest(topics=[]), "array", lambda _: 0
    ),
    ("DeleteTopics", "topics"): LengthField(
        lambda _: DeleteTopicsRequest(topics=[]), "array", lambda _: 0
    ),
    ("SaslHandshake", "mechanism"): LengthField(
        lambda _: SaslHandshakeRequest(mechanism=""), "string", lambda _: 0
    ),
    ("OffsetDelete", "topics"): LengthField(
        lambda _: OffsetDeleteRequest(group_id="", topics=[]), "array", lambda _: 2
    ),
    ("DescribeTopicPartitions", "topics"): LengthField(
        lambda _: DescribeTopicPartitionsRequest(topics=[]), "array", lambda _: 0
    ),
}
