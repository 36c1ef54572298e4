"""Counting what went over the wire."""

from __future__ import annotations

import pytest

from harness.client.connection import Connection
from harness.client.errors import WireViolation
from harness.client.wire_coverage import LOOKED_AT_ELEMENTS, WireCoverage
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeTopicPartitionsRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
)
from harness.codec.structs import Message
from tests.client.scripted import Peer, scripted

Found = dict[tuple[str, str, int | None], int]


def seen(*messages: Message, version: int) -> Found:
    """(what, field, error code) to how often; all of one message."""
    coverage = WireCoverage()
    for message in messages:
        coverage.see(message, version)
    rows = coverage.take()
    assert coverage.take() == [], "what was told is forgotten"
    assert len({row[:6] + row[6:8] for row in rows}) == len(rows), "no row twice"
    return {(row.what, row.field, row.error_code): row.times for row in rows}


def topic(name: str | None = None) -> MetadataRequest.MetadataRequestTopic:
    return MetadataRequest.MetadataRequestTopic(name=name)


def test_values_are_counted_as_default_other_null_or_empty() -> None:
    asked = MetadataRequest(topics=[topic("a"), topic("")], allow_auto_topic_creation=False)
    assert seen(asked, MetadataRequest(topics=None), version=12) == {
        ("message", "", None): 2,
        ("other", "topics", None): 1,
        ("null", "topics", None): 1,
        ("default", "topics.topic_id", None): 2,
        ("other", "topics.name", None): 1,
        ("default", "topics.name", None): 1,
        ("empty", "topics.name", None): 1,
        ("other", "allow_auto_topic_creation", None): 1,
        ("default", "allow_auto_topic_creation", None): 1,
        ("default", "include_topic_authorized_operations", None): 2,
    }


def test_empty_default_counts_as_empty_and_default() -> None:
    found = seen(MetadataRequest(topics=[]), version=12)
    assert found["empty", "topics", None] == found["default", "topics", None] == 1
    assert ("other", "topics", None) not in found


def test_only_fields_of_version_are_counted() -> None:
    fields = {field for _, field, _ in seen(MetadataRequest(topics=[topic("a")]), version=1)}
    assert fields == {"", "topics", "topics.name"}


def test_error_codes_are_counted_by_field_and_name() -> None:
    topics = [
        MetadataResponse.MetadataResponseTopic(error_code=code, name="t") for code in (0, 3, 3, 999)
    ]
    coverage = WireCoverage()
    coverage.see(MetadataResponse(topics=topics), 1)
    rows = [row for row in coverage.take() if row.what == "error"]
    assert {(row.field, row.error_code, row.error_name, row.times) for row in rows} == {
        ("topics.error_code", 0, "NONE", 1),
        ("topics.error_code", 3, "UNKNOWN_TOPIC_OR_PARTITION", 2),
        ("topics.error_code", 999, None, 1),
    }
    assert {row[:4] for row in rows} == {("response", 3, "Metadata", 1)}


def test_unknown_tags_are_counted_by_struct() -> None:
    message = MetadataRequest(topics=[topic("a")])
    message.unknown_tagged_fields = {9: b""}
    message.topics[0].unknown_tagged_fields = {7: b"x"}  # type: ignore[index]
    found = seen(message, MetadataRequest(topics=[topic("b")]), version=9)
    assert {key: n for key, n in found.items() if key[0] == "unknown_tag"} == {
        ("unknown_tag", "", None): 1,
        ("unknown_tag", "topics", None): 1,
    }


def test_fields_of_nested_structs_are_counted() -> None:
    partition = FetchResponse.PartitionData(records=b"")
    topics = [FetchResponse.FetchableTopicResponse(partitions=[partition])]
    found = seen(FetchResponse(responses=topics), version=12)
    assert found["default", "responses.partitions.diverging_epoch.epoch", None] == 1
    assert found["empty", "responses.partitions.records", None] == 1
    assert found["other", "responses.partitions", None] == 1
    assert not any(field == "responses.partitions.diverging_epoch" for _, field, _ in found)


def test_nullable_struct_is_counted_as_null_or_by_fields() -> None:
    cursor = DescribeTopicPartitionsRequest.Cursor(topic_name="t", partition_index=4)
    found = seen(
        DescribeTopicPartitionsRequest(cursor=cursor),
        DescribeTopicPartitionsRequest(cursor=None),
        version=0,
    )
    assert found["null", "cursor", None] == found["default", "cursor", None] == 1
    assert found["other", "cursor", None] == found["other", "cursor.topic_name", None] == 1


def test_only_first_elements_of_long_array_are_counted() -> None:
    found = seen(MetadataRequest(topics=[topic("a")] * 100_000), version=1)
    assert found["other", "topics.name", None] == LOOKED_AT_ELEMENTS


def test_connection_observer_receives_sent_and_decoded_messages() -> None:
    def script(peer: Peer) -> None:
        peer.answer(ApiVersionsResponse(), 0, peer.read_request()[0])
        peer.read_request()
        peer.send(b"\0\0\0\5\0\0\0\2\0")

    told: list[tuple[type[Message], int]] = []
    with scripted(script) as address:
        observer = lambda message, version: told.append((type(message), version))  # noqa: E731
        with Connection(address, observer=observer) as connection:
            connection.ask(ApiVersionsRequest(), 0)
            with pytest.raises(WireViolation):
                connection.ask(MetadataRequest(topics=[]), 1)
    assert told == [(ApiVersionsRequest, 0), (ApiVersionsResponse, 0), (MetadataRequest, 1)]
