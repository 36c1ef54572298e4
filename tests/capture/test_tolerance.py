"""Requests that Kafka accepts although bytes follow their body, and bytes that only look like some.

Roles without a SYN come from the bytes alone.
"""

from __future__ import annotations

import struct

import pytest

from harness.capture.events import REQUEST, RESPONSE, Captured
from harness.capture.segment import SocketAddress
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
)
from labs.captures.recorded import follow, messages
from tests.capture.made import BROKER, CLIENT, Conversation, without_syn

API_VERSIONS = ApiVersionsResponse(
    api_keys=[
        ApiVersionsResponse.ApiVersion(api_key=3, min_version=0, max_version=2),
        ApiVersionsResponse.ApiVersion(api_key=18, min_version=0, max_version=0),
    ]
)
TAILS = [bytes(4), b"\0", b"\xff\xff\xff\xff", b"more than the body " * 9]


def asked(talk: Conversation, tail: bytes, number: int = 1, name: str | None = "me") -> None:
    """ApiVersions v0 with bytes behind it, and its response."""
    talk.send(CLIENT, frame(encode_request(ApiVersionsRequest(), 0, number, name) + tail))
    talk.response(API_VERSIONS, 0, number)


def seen(talk: Conversation, *, syn: bool) -> list[Captured]:
    events, follower = follow(talk.segments if syn else without_syn(talk.segments))
    assert (follower.totals.skipped_bytes, follower.totals.undecodable) == (0, 0)
    return messages(events)


@pytest.mark.parametrize("tail", TAILS, ids=len)
@pytest.mark.parametrize("syn", [True, False])
@pytest.mark.parametrize("name", ["me", "", None])
def test_bytes_behind_request_are_noted_and_roles_are_right(
    tail: bytes, syn: bool, name: str | None
) -> None:
    talk = Conversation().open()
    asked(talk, tail, name=name)
    request, response = seen(talk, syn=syn)
    assert (request.direction, request.connection.server) == (REQUEST, BROKER)
    assert (request.api and request.api.name, request.version) == ("ApiVersions", 0)
    assert (request.correlation_id, request.left_over) == (1, len(tail))
    assert (response.message, response.left_over) == (API_VERSIONS, 0)


@pytest.mark.parametrize("syn", [True, False])
def test_every_request_of_connection_may_have_bytes_behind_it(syn: bool) -> None:
    talk = Conversation().open()
    asked(talk, bytes(4))
    fetch = FetchRequest(topics=[FetchRequest.FetchTopic(topic="orders")])
    for number in (2, 3):
        talk.send(CLIENT, frame(encode_request(fetch, 4, number, "me") + b"rest"))
    left = [m.left_over for m in seen(talk, syn=syn) if m.direction == REQUEST]
    assert left == [4, 4, 4]


@pytest.mark.parametrize("number", [1, 11, 0x0001_0004, 0x0003_0001, 0x0010_0000, 0x0012_0000])
@pytest.mark.parametrize("first", [0, 1], ids=["request-first", "response-first"])
def test_response_that_reads_as_request_is_no_request(number: int, first: int) -> None:
    """A correlation id has the place of an API key and version."""
    talk = Conversation()
    talk.request(HeartbeatRequest(group_id="g"), 1, number).response(HeartbeatResponse(), 1, number)
    talk.request(MetadataRequest(), 4, number + 1).response(MetadataResponse(), 4, number + 1)
    segments = talk.segments[2 * first :]
    found = messages(follow(segments)[0])
    assert {m.connection.server for m in found} == {BROKER}
    directions = [RESPONSE] * first + [REQUEST, RESPONSE] * (2 - first)
    found.sort(key=lambda message: message.time_ns)
    assert [m.direction for m in found] == directions


def test_response_alone_that_reads_as_request_is_reported_as_other_connection() -> None:
    talk = Conversation().send(BROKER, frame(encode_response(HeartbeatResponse(), 1, 0x0012_0000)))
    events, follower = follow(talk.segments)
    assert (events, follower.totals.other_connections) == ([], 1)


def test_bytes_that_only_the_readers_of_kafka_accept_are_decoded_with_note() -> None:
    body = struct.pack(">hhih", 3, 4, 1, 2) + b"me" + struct.pack(">ib", -7, 1)
    talk = Conversation().open().send(CLIENT, frame(body)).response(MetadataResponse(), 4, 1)
    request, _ = messages(follow(talk.segments)[0])
    assert request.message == MetadataRequest(topics=None)
    assert "MetadataRequest v4: topics" in request.note
    assert request.problem is None


# Other protocols with lengths and small numbers

ZOOKEEPER = (
    frame(struct.pack(">iqiqi", 0, 0, 30_000, 0, 16) + bytes(17)),
    frame(struct.pack(">iiqi", 0, 30_000, 0x1000_0A55_0C70_0001, 16) + bytes(17)),
    frame(struct.pack(">iii", 1, 4, 10) + b"/brokers/i" + b"\0"),
    frame(struct.pack(">iqi", 1, 77, -101)),
    frame(struct.pack(">ii", -2, 11)),
    frame(struct.pack(">iqi", -2, 77, 0)),
)
POSTGRES = (b"\0\0\0\x1b\0\3\0\0user\0me\0database\0\0", b"R\0\0\0\x08\0\0\0\0")
CASSANDRA = (b"\4\0\0\0\5\0\0\0\0", b"\x84\0\0\0\6\0\0\0\0")


@pytest.mark.parametrize("talk", [ZOOKEEPER, POSTGRES, CASSANDRA], ids=["zk", "postgres", "cql"])
@pytest.mark.parametrize("syn", [True, False])
def test_other_protocol_invents_no_message(talk: tuple[bytes, ...], syn: bool) -> None:
    made = Conversation(broker=SocketAddress(BROKER.address, 2181)).open()
    for at, data in enumerate(talk):
        made.send(made.broker if at % 2 else CLIENT, data)
    events, follower = follow(made.segments if syn else without_syn(made.segments))
    assert events == []
    assert follower.totals.other_connections == 1
    assert follower.totals.requests == follower.totals.responses == 0


# APIs and versions that are not known


@pytest.mark.parametrize(("key", "version", "name"), [(10_001, 3, None), (0, 90, "Produce")])
def test_unknown_api_or_version_keeps_key_id_and_client(
    key: int, version: int, name: str | None
) -> None:
    talk = Conversation().open()
    asked(talk, b"")
    talk.send(CLIENT, frame(struct.pack(">hhih", key, version, 2, 2) + b"me" + b"new"))
    talk.send(BROKER, frame(struct.pack(">i", 2) + b"new answer"))
    asked(talk, b"", 3)
    for syn in (True, False):
        found = messages(follow(talk.segments if syn else without_syn(talk.segments))[0])
        request, response = found[2:4]
        assert (request.api.name if request.api else None) == name
        for message in (request, response):
            assert (message.api_key, message.version, message.correlation_id) == (key, version, 2)
            assert message.client_id == "me"
        assert request.problem is not None
        assert len(found) == 6
