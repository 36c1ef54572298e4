"""CONN: framing, connections, ordering, malformed input."""

from __future__ import annotations

import struct

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import fetch_partition, fetch_request, fetch_topic, produce_request
from harness.codec.apis import APIS
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    FindCoordinatorRequest,
    ListOffsetsRequest,
    MetadataRequest,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.structs import Message, Request
from harness.conformance.checks import requirement
from harness.marks import at_versions, judges

INT32_MAX, INT32_MIN = 2**31 - 1, -(2**31)
SOCKET_REQUEST_MAX_BYTES = 104_857_600  # the default of socket.request.max.bytes
HEALTHY = ApiVersionsRequest()


@judges("CONN-003")
@pytest.mark.parametrize("correlation_id", [0, -1, INT32_MAX, INT32_MIN, 0x01020304])
def test_correlation_id_comes_back(broker: BrokerUnderTest, correlation_id: int) -> None:
    """Any int32 is echoed unmodified."""
    connection = broker.connect()
    with requirement("CONN-003"):
        connection.send(HEALTHY, 0, correlation_id=correlation_id)
        assert struct.unpack_from(">i", connection.receive_frame()) == (correlation_id,)


def _mixed_requests(broker: BrokerUnderTest, count: int) -> list[tuple[Request[Message], int]]:
    choices: list[Request[Message]] = [
        HEALTHY,
        MetadataRequest(topics=[]),
        ListOffsetsRequest(replica_id=-1, topics=[]),
        FindCoordinatorRequest(key_type=9, coordinator_keys=["x"]),
    ]
    names = ["ApiVersions", "Metadata", "ListOffsets", "FindCoordinator"]
    versions = [broker.version(name) for name in names]
    picks = [broker.random.randrange(len(choices)) for _ in range(count)]
    return [(choices[pick], versions[pick]) for pick in picks]


@judges("CONN-004")
def test_pipelined_answers_keep_their_order(broker: BrokerUnderTest) -> None:
    """Fifty requests of several APIs in one write: the answers come in the order sent."""
    requests = _mixed_requests(broker, 50)
    connection = broker.connect()
    payloads = [
        frame(encode_request(message, version, correlation_id))
        for correlation_id, (message, version) in enumerate(requests, start=1000)
    ]
    with requirement("CONN-004"):
        connection.send_bytes(b"".join(payloads))
        answered = [
            struct.unpack_from(">i", connection.receive_frame())[0] for _ in range(len(requests))
        ]
        assert answered == list(range(1000, 1000 + len(requests)))


@judges("CONN-005")
def test_a_cheap_request_does_not_overtake_a_long_poll(broker: BrokerUnderTest) -> None:
    """A waiting Fetch is answered before the ApiVersions that was sent after it."""
    topic = broker.create_topic()
    version = broker.version("Fetch", "4+")
    wait_ms = int(broker.scaled_ms(300))
    fetch = fetch_request([fetch_topic(topic, version, [fetch_partition(0)])], max_wait_ms=wait_ms)
    connection = broker.connect()
    with requirement("CONN-005"):
        connection.send(fetch, version, correlation_id=71)
        connection.send(HEALTHY, 0, correlation_id=72)
        order = [struct.unpack_from(">i", connection.receive_frame())[0] for _ in range(2)]
        assert order == [71, 72]


@judges("CONN-007")
def test_a_long_poll_does_not_hold_up_other_connections(broker: BrokerUnderTest) -> None:
    """While a Fetch waits on one connection, another connection is answered."""
    topic = broker.create_topic()
    version = broker.version("Fetch", "4+")
    wait_ms = int(broker.scaled_ms(20_000))
    fetch = fetch_request([fetch_topic(topic, version, [fetch_partition(0)])], max_wait_ms=wait_ms)
    waiting, other = broker.connect(), broker.connect(timeout_ms=10_000)
    waiting.send(fetch, version)
    with requirement("CONN-007"):
        assert other.ask(HEALTHY, 0).error_code == ErrorCode.NONE
        waiting.expect_silence(for_ms=0.001)
    # an append ends the wait, so that nothing is left waiting at the broker
    broker.produce(topic, encode_batch(RecordBatch([Record(b"wake up")])))
    waiting.receive()


@judges("CONN-008")
@at_versions("Produce", "3+")
def test_only_acks_0_is_not_answered(broker: BrokerUnderTest, api_version: int) -> None:
    """Produce with acks=0 gets no answer; the request after it is answered next."""
    topic = broker.create_topic()
    batch = encode_batch(RecordBatch([Record(b"x")]))
    connection = broker.connect()
    with requirement("CONN-008"):
        connection.send(produce_request(topic, batch, api_version, acks=0), api_version)
        connection.forget_answer()
        connection.send(HEALTHY, 0, correlation_id=88)
        assert struct.unpack_from(">i", connection.receive_frame()) == (88,)
        broker.eventually(lambda: broker.end_offset(topic) == 1, "the batch is appended")


@judges("CONN-010")
def test_an_oversize_frame_closes_the_connection(broker: BrokerUnderTest) -> None:
    """A length above socket.request.max.bytes: closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-010"):
        connection.send_bytes(struct.pack(">i", SOCKET_REQUEST_MAX_BYTES + 1))
        connection.expect_closed()


@judges("CONN-011")
@pytest.mark.parametrize("length", [-1, INT32_MIN])
def test_a_negative_frame_size_closes_the_connection(broker: BrokerUnderTest, length: int) -> None:
    """A negative length: closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-011"):
        connection.send_bytes(struct.pack(">i", length))
        connection.expect_closed()


@judges("CONN-012")
@pytest.mark.parametrize("length", [0, 2, 4])
def test_a_frame_without_room_for_a_header_closes(broker: BrokerUnderTest, length: int) -> None:
    """A frame too short for a request header: closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-012"):
        connection.send_frame(struct.pack(">hh", 18, 0)[:length])
        connection.expect_closed()


@judges("CONN-013")
@pytest.mark.parametrize("api_key", [-1, 9999])
def test_an_unknown_api_key_closes_the_connection(broker: BrokerUnderTest, api_key: int) -> None:
    """A key beyond the table: closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-013"):
        connection.send_frame(struct.pack(">hhih", api_key, 0, 1, -1))
        connection.expect_closed()


@judges("CONN-014")
@pytest.mark.parametrize("name", [api.name for api in APIS.values() if api.name != "ApiVersions"])
@pytest.mark.parametrize("beyond", ["below", "above"])
def test_an_unsupported_version_closes_the_connection(
    broker: BrokerUnderTest, name: str, beyond: str
) -> None:
    """A version of a known API outside the advertised range: closed without an answer."""
    broker.version(name)
    advertised = broker.advertised(name)
    version = -1 if beyond == "below" else advertised.highest + 1
    key = next(api.key for api in APIS.values() if api.name == name)
    connection = broker.connect()
    with requirement("CONN-014"):
        connection.send_frame(struct.pack(">hhih", key, version, 1, -1) + b"\0" * 16)
        connection.expect_closed()


@judges("CONN-016")
@at_versions("Metadata")
def test_a_cut_body_closes_only_its_connection(broker: BrokerUnderTest, api_version: int) -> None:
    """A request that ends inside its body closes its own connection and no other."""
    names = [MetadataRequest.MetadataRequestTopic(name="a-topic-that-is-named")]
    whole = encode_request(MetadataRequest(topics=names), api_version, 1)
    bystander = broker.connect()
    with requirement("CONN-016"):
        for cut in range(1, 20, 6):
            connection = broker.connect()
            connection.send_frame(whole[:-cut])
            connection.expect_closed()
        assert bystander.ask(HEALTHY, 0).error_code == ErrorCode.NONE


@judges("CONN-019")
@pytest.mark.parametrize("client_id", [None, "empty"])
@at_versions("Metadata")
def test_null_and_empty_client_ids_are_accepted(
    broker: BrokerUnderTest, client_id: str | None, api_version: int
) -> None:
    """The client id may be null or empty."""
    connection = broker.connect(client_id=None if client_id is None else "")
    with requirement("CONN-019"):
        connection.ask(MetadataRequest(topics=[]), api_version)


@judges("CONN-020")
def test_a_frame_in_single_bytes_is_reassembled(broker: BrokerUnderTest) -> None:
    """A frame sent byte by byte is answered like any other."""
    data = frame(encode_request(HEALTHY, 0, 5))
    connection = broker.connect()
    with requirement("CONN-020"):
        for at in range(len(data)):
            connection.send_bytes(data[at : at + 1])
        assert struct.unpack_from(">i", connection.receive_frame()) == (5,)


@judges("CONN-021")
def test_several_frames_in_one_segment_are_all_answered(broker: BrokerUnderTest) -> None:
    """Ten frames in one write get ten answers."""
    connection = broker.connect()
    with requirement("CONN-021"):
        connection.send_bytes(b"".join(frame(encode_request(HEALTHY, 0, i)) for i in range(10)))
        answered = [struct.unpack_from(">i", connection.receive_frame())[0] for _ in range(10)]
        assert answered == list(range(10))
