"""ENC: nulls, compact lengths, tagged fields, UUIDs.

Requests are built from the codec's bytes with single bytes exchanged, or from bytes written down
here; the compact answer of ENC-005 is read by a reader of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.client.requests import fetch_partition, fetch_request, fetch_topic, produce_request
from harness.codec import encode
from harness.codec.apis import api_named
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_request
from harness.codec.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    ListOffsetsRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.structs import Message, Struct
from harness.codec.varint import encode_uvarint
from harness.conformance.checks import requirement
from harness.marks import at_versions, judges
from suites.protocol.compact_reader import CompactReader
from suites.protocol.expect import expect_error
from suites.protocol.harmless import (
    each_api,
    flexible_versions,
    harmless_request,
    served_versions,
)

UNKNOWN_TAG = 9999
LONG_NAME = "n" * 200  # its compact length takes two bytes
OVERLONG_ONE = b"\x81\x80\x80\x80\x80\x00"  # 1, written in six bytes
CORRELATION_ID = 7
ONE_BATCH = encode_batch(RecordBatch([Record(b"x")]))


def _with_body(normal: Message, version: int, body: bytes) -> bytes:
    """The header of ``normal`` in front of another body."""
    whole = encode_request(normal, version, CORRELATION_ID)
    return whole[: -len(encode(normal, version))] + body


def _metadata_payload(version: int, body: bytes) -> bytes:
    """A Metadata request with a body that is written by hand."""
    return _with_body(MetadataRequest(topics=[]), version, body)


# -- null where it is not allowed ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NeverNull:
    """An empty field that may not be null: the request, and where the field is in its body."""

    request: Callable[[int], Message]
    kind: str  # "array" or "string"
    offset: Callable[[int], int]
    versions: str = "0+"

    def with_null(self, api_name: str, version: int) -> bytes:
        """The payload with null in place of the empty value."""
        request = self.request(version)
        body = encode(request, version)
        wide = {"array": 4, "string": 2}[self.kind]
        width = 1 if version in api_named(api_name).flexible_versions else wide
        at = self.offset(version)
        empty, null = (b"\1", b"\0") if width == 1 else (bytes(width), b"\xff" * width)
        if body[at : at + width] != empty:
            raise ValueError(f"{api_name} v{version}: no empty {self.kind} at byte {at}")
        return _with_body(request, version, body[:at] + null + body[at + width :])


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


NEVER_NULL = {
    ("Produce", "topics"): NeverNull(
        lambda _: ProduceRequest(acks=-1, topic_data=[]), "array", lambda v: 7 if v >= 9 else 8
    ),
    ("Fetch", "topics"): NeverNull(lambda _: FetchRequest(topics=[]), "array", _fetch_topics_at),
    ("ListOffsets", "topics"): NeverNull(
        lambda _: ListOffsetsRequest(topics=[]), "array", lambda v: 5 if v >= 2 else 4
    ),
    ("Metadata", "topics"): NeverNull(
        lambda _: MetadataRequest(topics=[]), "array", lambda _: 0, "0"
    ),
    ("Metadata", "name"): NeverNull(_nameless, "string", lambda v: 1 if v >= 9 else 4, "1-9"),
    ("FindCoordinator", "key"): NeverNull(
        lambda _: FindCoordinatorRequest(key=""), "string", lambda _: 0, "0-3"
    ),
    ("FindCoordinator", "keys"): NeverNull(
        lambda _: FindCoordinatorRequest(coordinator_keys=[]), "array", lambda _: 1, "4+"
    ),
    ("CreateTopics", "topics"): NeverNull(
        lambda _: CreateTopicsRequest(topics=[]), "array", lambda _: 0
    ),
    ("DeleteTopics", "topics"): NeverNull(
        lambda _: DeleteTopicsRequest(topics=[]), "array", lambda _: 0
    ),
}


def _error_codes(answer: Struct) -> Iterator[int]:
    for spec in answer.spec.fields:
        value = getattr(answer, spec.name)
        if spec.name == "error_code":
            yield value
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, Struct):
                yield from _error_codes(element)


def _expect_refused(connection: Connection, api_name: str, version: int) -> None:
    """Closed, or answered with an error."""
    try:
        payload = connection.receive_frame()
    except ConnectionClosed:
        return
    _, answer = decode_response(api_named(api_name), version, payload)
    assert any(_error_codes(answer)), (
        f"null was read as something that {api_name} v{version} allows: {answer!r}"
    )


@judges("ENC-004")
@pytest.mark.parametrize(("api_name", "field"), NEVER_NULL)
def test_null_is_refused_where_it_is_not_allowed(
    broker: BrokerUnderTest, api_name: str, field: str
) -> None:
    """Null in a field that is not nullable at this version is never taken for empty."""
    api, never_null = api_named(api_name), NEVER_NULL[api_name, field]
    for version in served_versions(broker, api_name, never_null.versions):
        payload = never_null.with_null(api_name, version)
        connection = broker.connect()
        with requirement("ENC-004", api_key=api.key, api_version=version):
            connection.send_frame(payload)
            _expect_refused(connection, api_name, version)


# -- compact lengths -------------------------------------------------------------------------------


def _read_topic_of_metadata(payload: bytes, version: int) -> tuple[str | None, int | None]:
    """(name, partition count) of the first topic in an answer of Metadata 9 to 13."""
    reader = CompactReader(payload)
    reader.take(4)  # correlation id
    reader.no_tags()
    reader.take(4)  # throttle time
    for _ in range(reader.length() or 0):
        reader.take(4)  # node id
        assert reader.string(), "a broker without a host"
        reader.take(4)  # port
        reader.string()  # rack, nullable
        reader.no_tags()
    reader.string()  # cluster id, nullable
    reader.take(4)  # controller id
    count = reader.length()
    assert count == 1, f"{count} topics where one was asked for"
    reader.take(2)  # error code
    name = reader.string()
    reader.take((16 if version >= 10 else 0) + 1)  # topic id, is internal
    return name, reader.length()


@judges("ENC-005")
@at_versions("Metadata", "9-13")
def test_a_compact_answer_has_lengths_plus_one(broker: BrokerUnderTest, api_version: int) -> None:
    """A string of 200 bytes has the length bytes C9 01, an empty array 01."""
    topics = [MetadataRequest.MetadataRequestTopic(name=LONG_NAME)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    connection = broker.connect()
    connection.send(request, api_version)
    with requirement("ENC-005"):
        payload = connection.receive_frame()
        name, partitions = _read_topic_of_metadata(payload, api_version)
        assert name == LONG_NAME, f"the name is {name!r}, not the 200 characters asked for"
        assert partitions == 0, f"an empty array has the length {partitions}"


def _decoded_metadata(payload: bytes, version: int) -> MetadataResponse:
    _, answer = decode_response(api_named("Metadata"), version, payload)
    assert isinstance(answer, MetadataResponse)
    return answer


@judges("ENC-005")
@at_versions("Metadata", "9-13")
def test_a_compact_null_array_is_not_an_empty_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The length byte 0 is null, which asks for all topics; 1 is empty, which asks for none."""
    topic = broker.create_topic()
    flags = bytes(3 if api_version <= 10 else 2)  # auto creation, authorized operations
    connection = broker.connect()
    with requirement("ENC-005"):
        for length, expected in ((b"\0", True), (b"\1", False)):
            connection.send_frame(_metadata_payload(api_version, length + flags + b"\0"))
            answer = _decoded_metadata(connection.receive_frame(), api_version)
            names = [found.name for found in answer.topics]
            assert (topic.name in names) is expected, f"array length byte {length!r}: got {names}"


# -- tagged fields ---------------------------------------------------------------------------------


@judges("ENC-006")
@at_versions("Metadata", "9+")
def test_unknown_tags_of_a_body_change_nothing(broker: BrokerUnderTest, api_version: int) -> None:
    """At the top and in a nested struct; the same topic is answered as without them."""
    topic = broker.create_topic()
    tags = {UNKNOWN_TAG: b"not known", UNKNOWN_TAG + 1: b""}
    entry = MetadataRequest.MetadataRequestTopic
    plain = MetadataRequest(topics=[entry(name=topic.name)], allow_auto_topic_creation=False)
    tagged = MetadataRequest(
        topics=[entry(name=topic.name, unknown_tagged_fields=tags)],
        allow_auto_topic_creation=False,
        unknown_tagged_fields=tags,
    )
    connection = broker.connect()
    # tolerantly: what else an answer holds is not the question here
    expected = connection.ask(plain, api_version, tolerant=True).topics
    with requirement("ENC-006"):
        found = connection.ask(tagged, api_version, tolerant=True).topics
        assert found == expected, f"with unknown tags {found}, without them {expected}"


@judges("ENC-006")
def test_unknown_tags_at_every_depth_of_produce_are_skipped(broker: BrokerUnderTest) -> None:
    """Request, topic and partition carry unknown tags; the records are appended all the same."""
    topic = broker.create_topic()
    tags = {UNKNOWN_TAG: b"not known"}
    connection = broker.connect()
    for offset, version in enumerate(flexible_versions(broker, "Produce")):
        request = produce_request(topic, ONE_BATCH, version)
        entry = request.topic_data[0]
        for tagged in (request, entry, entry.partition_data[0]):
            tagged.unknown_tagged_fields = dict(tags)
        with requirement("ENC-006", api_key=api_named("Produce").key, api_version=version):
            answer = connection.ask(request, version).responses[0].partition_responses[0]
            expect_error(answer.error_code, ErrorCode.NONE)
            assert answer.base_offset == offset, f"{answer.base_offset} is not offset {offset}"


@judges("ENC-007")
@each_api
def test_unknown_tags_of_a_request_header_are_skipped(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """The body behind such a header is read from the right place."""
    connection = broker.connect()
    tags = {0: b"", UNKNOWN_TAG: b"not known"}
    for version in flexible_versions(broker, api_name):
        request = harmless_request(api_name, version)
        with requirement("ENC-007", api_key=api_named(api_name).key, api_version=version):
            connection.send(request, version, header_tags=tags)
            connection.receive()


@judges("ENC-008")
@at_versions("Fetch", "12+")
@pytest.mark.parametrize("present", ["nothing", "cluster-id"])
def test_absent_known_tags_have_their_defaults(
    broker: BrokerUnderTest, api_version: int, present: str
) -> None:
    """Without ReplicaState a Fetch is a consumer's, whether or not ClusterId is there."""
    topic = broker.create_topic()
    broker.produce(topic, ONE_BATCH)
    request = fetch_request([fetch_topic(topic, api_version, [fetch_partition(0)])])
    if present == "cluster-id":
        request.cluster_id = broker.metadata([]).cluster_id
    with requirement("ENC-008"):
        answer = broker.ask(request, api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        found = answer.responses[0].partitions[0]
        expect_error(found.error_code, ErrorCode.NONE)
        assert found.records, "a consumer's fetch got no records"


@judges("ENC-010")
@at_versions("Metadata", "9+")
@pytest.mark.parametrize("beyond", ["by-one", "by-far"])
def test_a_tag_longer_than_its_frame_closes_the_connection(
    broker: BrokerUnderTest, api_version: int, beyond: str
) -> None:
    """An unknown tag with a size that runs past the frame: closed without an answer."""
    data = b"the rest"
    size = len(data) + 1 if beyond == "by-one" else 2**31 - 1
    body = encode(MetadataRequest(topics=[]), api_version)[:-1]
    body += b"\1" + encode_uvarint(UNKNOWN_TAG) + encode_uvarint(size) + data
    connection = broker.connect()
    with requirement("ENC-010"):
        connection.send_frame(_metadata_payload(api_version, body))
        connection.expect_closed()


@judges("ENC-012")
@at_versions("Metadata", "9+")
@pytest.mark.parametrize("place", ["array-length", "tag-count"])
def test_a_varint_of_six_bytes_is_refused(
    broker: BrokerUnderTest, api_version: int, place: str
) -> None:
    """Six bytes that would make a small number if they were read: closed without an answer."""
    body = encode(MetadataRequest(topics=[]), api_version)
    if place == "array-length":
        body = OVERLONG_ONE + body[1:]
    else:
        body = body[:-1] + OVERLONG_ONE + encode_uvarint(UNKNOWN_TAG) + b"\0"
    connection = broker.connect()
    with requirement("ENC-012"):
        connection.send_frame(_metadata_payload(api_version, body))
        connection.expect_closed()


# -- UUIDs -----------------------------------------------------------------------------------------


def _id_behind(payload: bytes, name: str) -> bytes:
    """The 16 bytes that follow a topic's name in an answer of Metadata."""
    _, found, rest = payload.partition(name.encode())
    assert found, f"the answer does not name {name}"
    return rest[:16]


@judges("ENC-013")
@at_versions("Metadata", "10+")
def test_a_topic_id_is_the_same_16_bytes_everywhere(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The bytes that CreateTopics answers stand in Metadata behind the name that they belong to."""
    created = broker.version("CreateTopics", "7+")
    deleted = broker.version("DeleteTopics", "6+")
    name = broker.unique_topic()
    entry = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    answer = broker.ask(CreateTopicsRequest(topics=[entry], timeout_ms=10_000), created).topics[0]
    broker.eventually(
        lambda: broker.metadata([name]).topics[0].error_code == ErrorCode.NONE, "it is shown"
    )
    topics = [MetadataRequest.MetadataRequestTopic(name=name, topic_id=ZERO_UUID)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    connection = broker.connect("ENC-013")
    try:
        with requirement("ENC-013"):
            assert answer.topic_id != ZERO_UUID, "a created topic has no id"
            connection.send(request, api_version)
            payload = connection.receive_frame()
            found = _id_behind(payload, name)
            assert found == answer.topic_id.bytes, f"{found.hex()}, created {answer.topic_id.hex}"
    finally:
        state = DeleteTopicsRequest.DeleteTopicState(topic_id=answer.topic_id)
        broker.ask(DeleteTopicsRequest(topics=[state], timeout_ms=10_000), deleted)


@judges("ENC-013")
@at_versions("Metadata", "10+")
def test_a_topic_that_is_not_there_has_the_zero_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """16 zero bytes stand for no id."""
    name = broker.unique_topic()
    topics = [MetadataRequest.MetadataRequestTopic(name=name, topic_id=ZERO_UUID)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    connection = broker.connect()
    with requirement("ENC-013"):
        connection.send(request, api_version)
        payload = connection.receive_frame()
        found = _id_behind(payload, name)
        assert found == bytes(16), f"{found.hex()} is not the zero id"
