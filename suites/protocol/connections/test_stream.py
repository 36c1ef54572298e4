"""CONN: frames in the pieces of the stream, good ones before bad ones, and correlation ids."""

from __future__ import annotations

import struct

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import (
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    produce_request,
)
from harness.codec.apis import API_VERSIONS_KEY
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import ListOffsetsRequest, MetadataRequest
from harness.codec.structs import Message, Request
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.answers import correlation_id_of, expect_answers
from suites.protocol.support.appended import batch_of
from suites.protocol.support.healthy import healthy
from suites.protocol.support.kept_topics import KeptTopics

SAME_ID = 8008
INT32_MAX, INT32_MIN = 2**31 - 1, -(2**31)
WAIT_MS = 20
UNKNOWN_VERSION = 2**15 - 1
LARGE_BYTES = (20_000, 70_000, 300_000)  # of a record: about a socket read, and several of them
CUT_TOPIC = b"of a topic, the name is cut"


@judges("CONN-020")
def test_frames_split_across_writes_are_answered_when_complete(broker: BrokerUnderTest) -> None:
    """One frame and a half, its answer, the other half with half of the next, and so on: each
    frame is answered as soon as it is whole.
    """
    frames = [frame(encode_request(healthy(broker), 0, one, "CONN-020")) for one in range(6)]
    size = len(frames[0])
    # how much of a frame comes with the end of the one before it
    ahead = [0, 2, struct.calcsize(">i"), size // 2, size - 1, 1]
    connection = broker.connect("CONN-020")
    with requirement("CONN-020"):
        for number, data in enumerate(frames):
            begun = frames[number + 1][: ahead[number + 1]] if data is not frames[-1] else b""
            connection.send_bytes(data[ahead[number] :] + begun)
            expect_answers(connection, [number])


@judges("CONN-008")
def test_requests_with_same_correlation_id_are_all_answered(
    broker: BrokerUnderTest,
) -> None:
    """Three different requests in flight with one id: three answers, each to its own request."""
    version = broker.version("Metadata")
    asked: list[tuple[Request[Message], int]] = [
        (healthy(broker), 0),
        (MetadataRequest(topics=[]), version),
        (ListOffsetsRequest(replica_id=-1, topics=[]), broker.version("ListOffsets")),
    ]
    connection = broker.connect()
    with requirement("CONN-008"):
        for message, at_version in asked:
            connection.send(message, at_version, correlation_id=SAME_ID)
        for _ in asked:
            connection.receive(tolerant=True)
        connection.expect_silence(for_ms=1)


@judges("CONN-003")
@pytest.mark.parametrize("correlation_id", [0, -1, INT32_MAX, INT32_MIN])
def test_correlation_id_of_wait_and_of_unknown_version_is_returned(
    broker: BrokerUnderTest, correlation_id: int
) -> None:
    """Of a Fetch that waits, of the highest version, and of ApiVersions at an unknown one."""
    topic = broker.create_topic()
    reading, metadata = broker.reading_version(topic), broker.version("Metadata")
    waiting = fetch_request(
        [fetch_topic(topic, reading, [fetch_partition(0)])], max_wait_ms=WAIT_MS, min_bytes=1
    )
    payloads = {
        "a wait": encode_request(waiting, reading, correlation_id),
        "the highest version": encode_request(MetadataRequest(topics=[]), metadata, correlation_id),
    }
    if broker.advertised("ApiVersions"):
        head = struct.pack(">hhih", API_VERSIONS_KEY, UNKNOWN_VERSION, correlation_id, -1)
        payloads["an unknown version of ApiVersions"] = head + b"\0\1\1\0"
    with requirement("CONN-003") as check:
        for name, payload in payloads.items():
            with check.subtest(name):
                connection = broker.connect()
                connection.send_frame(payload)
                found = correlation_id_of(connection.receive_frame())
                assert found == correlation_id, f"{correlation_id} was sent, {found} came back"


@judges("CONN-006")
def test_requests_behind_large_request_are_answered(broker: BrokerUnderTest) -> None:
    """Small requests in one write with a Produce that comes in many pieces; the last in halves."""
    topic, version = broker.create_topic(), broker.version("Produce")
    small = [frame(encode_request(healthy(broker), 0, one, "CONN-006")) for one in (2, 3, 4)]
    with requirement("CONN-006") as check:
        for size_bytes in LARGE_BYTES:
            with check.subtest(f"behind {size_bytes} bytes"):
                batch = batch_of(b"v" * size_bytes, version=version)
                request = produce_request(topic, batch, version)
                large = frame(encode_request(request, version, 1, "CONN-006"))
                sent = b"".join([large, *small])
                half = len(small[-1]) // 2
                connection = broker.connect("CONN-006")
                connection.send_bytes(sent[:-half])
                expect_answers(connection, [1, 2, 3])
                connection.send_bytes(sent[-half:])
                expect_answers(connection, [4])


BAD_LENGTHS = {
    "a negative length": struct.pack(">i", -1),
    "a length above every limit": struct.pack(">i", INT32_MAX),
}
BAD_FRAMES = {
    "an unknown key": frame(struct.pack(">hhih", 9999, 0, 9, -1)),
    "an unknown version": frame(struct.pack(">hhih", 3, 999, 9, -1)),
    "half a header": frame(struct.pack(">hh", 3, 0)),
    "a cut body": frame(struct.pack(">hhihih", 3, 0, 9, -1, 1, 400) + CUT_TOPIC),
}


FAILING_PRODUCE = "a Produce without acks that fails"


@judges("CONN-008")
@pytest.mark.parametrize("bad", [*BAD_FRAMES, FAILING_PRODUCE])
def test_requests_before_bad_frame_are_answered(broker: BrokerUnderTest, bad: str) -> None:
    """Three good requests in one write with a frame that closes the connection: three answers."""
    good = [frame(encode_request(healthy(broker), 0, one, "CONN-008")) for one in (1, 2, 3)]
    last = BAD_FRAMES.get(bad) or _failing_produce(broker)
    connection = broker.connect("CONN-008")
    with requirement("CONN-008"):
        connection.send_bytes(b"".join([*good, last]))
        expect_answers(connection, [1, 2, 3])


@judges("CONN-030")
@pytest.mark.parametrize("bad", BAD_LENGTHS)
def test_requests_before_bad_length_are_answered(broker: BrokerUnderTest, bad: str) -> None:
    """Three good requests in one write with a length that closes the connection: three answers."""
    good = [frame(encode_request(healthy(broker), 0, one, "CONN-030")) for one in (1, 2, 3)]
    connection = broker.connect("CONN-030")
    with requirement("CONN-030"):
        connection.send_bytes(b"".join([*good, BAD_LENGTHS[bad]]))
        expect_answers(connection, [1, 2, 3])
        connection.expect_closed()


@judges("CONN-031")
def test_requests_before_end_of_stream_are_answered(
    broker: BrokerUnderTest, kept: KeptTopics
) -> None:
    """The client sends requests at once and ends its direction; the last one is a Fetch that waits.

    The broker closes its own direction after the last response.
    """
    topic, version = kept.topic(broker, _empty), broker.version("Fetch")
    waiting = fetch_request(
        [fetch_topic(topic, version, [fetch_partition(0)])], max_wait_ms=WAIT_MS, min_bytes=1
    )
    served = [frame(encode_request(healthy(broker), 0, one, "CONN-031")) for one in (1, 2)]
    connection = broker.connect("CONN-031")
    with requirement("CONN-031"):
        fetch = frame(encode_request(waiting, version, 3, "CONN-031"))
        connection.send_bytes(b"".join([*served, fetch]))
        connection.end_sending()
        expect_answers(connection, [1, 2, 3])
        connection.expect_closed()


def _empty(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _failing_produce(broker: BrokerUnderTest) -> bytes:
    """A frame of Produce with acks=0 to a topic that does not exist."""
    version = broker.version("Produce")
    batch = batch_of(b"x", version=version)
    request = produce_request(Topic(broker.unique_topic()), batch, version, acks=0)
    return frame(encode_request(request, version, 9))
