"""ENC: nulls, compact lengths, tagged fields, UUIDs.

Requests are built from the codec's bytes with single bytes exchanged, or from bytes written down
here; the compact answer of ENC-005 is read by a reader of its own.
"""

from __future__ import annotations

from functools import partial

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import (
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    produce_request,
)
from harness.codec import encode
from harness.codec.apis import api_named
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response
from harness.codec.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
    MetadataResponse,
)
from harness.codec.varint import encode_uvarint
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.compact_reader import CompactReader
from suites.protocol.support.expect import expect_error
from suites.protocol.support.harmless import (
    each_api,
    flexible_versions,
    harmless_request,
    served_versions,
)
from suites.protocol.support.length_fields import LENGTH_FIELDS, with_body
from suites.protocol.support.refused_null import expect_null_refused
from suites.protocol.support.struct_walk import error_codes, structs_at

UNKNOWN_TAG = 9999
COORDINATOR_COMES = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
LONG_NAME = "n" * 200  # its compact length takes two bytes
OVERLONG_ONE = b"\x81\x80\x80\x80\x80\x00"  # 1, written in six bytes
ONE_BATCH = batch_of(b"x")


def _metadata_payload(version: int, body: bytes) -> bytes:
    """A Metadata request with a body that is written by hand."""
    return with_body(MetadataRequest(topics=[]), version, body)


# -- null where it is not allowed ------------------------------------------------------------------


@judges("ENC-004")
@pytest.mark.parametrize(
    ("api_name", "field"), [name for name, place in LENGTH_FIELDS.items() if place.never_null]
)
def test_null_in_non_nullable_field_is_refused(
    broker: BrokerUnderTest, api_name: str, field: str
) -> None:
    """Null in a field that is not nullable at this version is never taken for empty."""
    api, place = api_named(api_name), LENGTH_FIELDS[api_name, field]
    for version in served_versions(broker, api_name, str(place.never_null)):
        connection = broker.connect()
        empty = error_codes(connection.ask(place.request(version), version), version)
        with requirement("ENC-004", api_key=api.key, api_version=version):
            connection.send_frame(place.with_null(api_name, version))
            expect_null_refused(connection, api_name, version, empty)


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
def test_compact_metadata_response_encodes_lengths_plus_one(
    broker: BrokerUnderTest, api_version: int
) -> None:
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
def test_metadata_distinguishes_null_from_empty_compact_topic_array(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The length byte 0 is null, which asks for all topics; 1 is empty, which asks for none."""
    topic = broker.create_topic()
    flags = bytes(3 if api_version <= 10 else 2)  # auto creation, authorized operations
    with requirement("ENC-005") as check:
        for length, expected in ((b"\0", True), (b"\1", False)):
            with check.subtest("null" if expected else "empty"):
                connection = broker.connect()
                connection.send_frame(_metadata_payload(api_version, length + flags + b"\0"))
                answer = _decoded_metadata(connection.receive_frame(), api_version)
                names = [found.name for found in answer.topics]
                there = topic.name in names
                assert there is expected, f"array length byte {length!r}: got {names}"


# -- tagged fields ---------------------------------------------------------------------------------


@judges("ENC-006")
@at_versions("Metadata", "9+")
def test_metadata_with_unknown_tagged_fields_returns_same_topics(
    broker: BrokerUnderTest, api_version: int
) -> None:
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
def test_produce_with_unknown_tagged_fields_appends_records(broker: BrokerUnderTest) -> None:
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
            topic_answer = only(connection.ask(request, version).responses, "topic")
            answer = only(topic_answer.partition_responses, "partition")
            expect_error(answer.error_code, ErrorCode.NONE)
            assert answer.base_offset == offset, f"{answer.base_offset} is not offset {offset}"


@judges("ENC-006")
@each_api
def test_unknown_tagged_fields_in_request_body_do_not_change_error_codes(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """In each struct of a request: it gets the errors that it gets without them.

    Where a broker lets the request change something, the errors are those from then on.
    """
    connection = broker.connect()

    def asked(version: int, tags: dict[int, bytes]) -> list[int]:
        request = harmless_request(broker, api_name, version, Topic(broker.unique_topic()))
        for struct in structs_at(request, version):
            struct.unknown_tagged_fields = tags
        return error_codes(connection.ask(request, version, tolerant=True), version)

    def answered(version: int) -> tuple[list[int], list[int]] | None:
        expected = asked(version, {})
        found = asked(version, {UNKNOWN_TAG: b"not known"})
        if found != expected:
            expected = asked(version, {})
        coming = found != expected and COORDINATOR_COMES.intersection(found + expected)
        return None if coming else (found, expected)

    for version in flexible_versions(broker, api_name):
        with requirement("ENC-006", api_key=api_named(api_name).key, api_version=version):
            what = f"the coordinator that {api_name} v{version} needs is there"
            found, expected = broker.eventually(partial(answered, version), what)
            assert found == expected, f"errors with unknown tags {found}, without {expected}"


@judges("ENC-007")
@each_api
def test_unknown_tagged_fields_in_request_header_are_skipped(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """The body behind such a header is read from the right place."""
    connection = broker.connect()
    tags = {0: b"", UNKNOWN_TAG: b"not known"}
    for version in flexible_versions(broker, api_name):
        request = harmless_request(broker, api_name, version)
        with requirement("ENC-007", api_key=api_named(api_name).key, api_version=version):
            connection.send(request, version, header_tags=tags)
            connection.receive()


@judges("ENC-008")
@at_versions("Fetch", "12+")
@pytest.mark.parametrize("present", ["nothing", "cluster-id"])
def test_fetch_with_absent_known_tagged_fields_uses_defaults(
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
        found = only(only(answer.responses, "topic").partitions, "partition")
        expect_error(found.error_code, ErrorCode.NONE)
        assert found.records, "a consumer's fetch got no records"


@judges("ENC-009")
@at_versions("Metadata", "9+")
@pytest.mark.parametrize(
    "tags", [(UNKNOWN_TAG + 1, UNKNOWN_TAG), (UNKNOWN_TAG, UNKNOWN_TAG)], ids=["falling", "twice"]
)
def test_metadata_with_unordered_or_duplicate_tags_is_answered(
    broker: BrokerUnderTest, api_version: int, tags: tuple[int, int]
) -> None:
    """The request is answered as with tags in order; a broker may as well refuse it."""
    normal = MetadataRequest(topics=[])
    body = encode(normal, api_version)[:-1] + encode_uvarint(len(tags))
    body += b"".join(encode_uvarint(tag) + b"\1x" for tag in tags)
    connection = broker.connect()
    expected = connection.ask(normal, api_version, tolerant=True)
    with requirement("ENC-009"):
        connection.send_frame(_metadata_payload(api_version, body))
        found = _decoded_metadata(connection.receive_frame(), api_version)
        assert found.brokers == expected.brokers, f"{found}, with tags in order {expected}"


@judges("ENC-010")
@at_versions("Metadata", "9+")
@pytest.mark.parametrize("beyond", ["by-one", "by-far"])
def test_unknown_tag_with_size_beyond_frame_closes_connection(
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
def test_unsigned_varint_of_six_bytes_closes_connection(
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
def test_create_topics_and_metadata_return_same_topic_id_bytes(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The bytes that CreateTopics answers stand in Metadata behind the name that they belong to."""
    created = broker.version("CreateTopics", "7+")
    deleted = broker.version("DeleteTopics", "6+")
    name = broker.unique_topic()
    entry = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    response = broker.ask(CreateTopicsRequest(topics=[entry], timeout_ms=10_000), created)
    answer = only(response.topics, "topic")
    broker.eventually(
        lambda: only(broker.metadata([name]).topics, "topic").error_code == ErrorCode.NONE,
        "it is shown",
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
def test_metadata_of_unknown_topic_has_zero_topic_id(
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
