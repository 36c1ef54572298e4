"""CONN: framing, connections, ordering, malformed input.

Tests of what holds for every request use a client id that names the requirement, so that the
broker's own log shows which check a connection belongs to.
"""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ResponseTimeout
from harness.client.only import only
from harness.client.requests import (
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    produce_request,
)
from harness.codec import decode, decode_prefix
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ListOffsetsRequest,
    MetadataRequest,
    ResponseHeader,
)
from harness.codec.structs import Message, Request
from harness.conformance.checks import requirement
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges
from suites.protocol.support.answers import correlation_id_of, expect_answers
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.harmless import (
    TOPIC_APIS,
    each_api,
    each_everyday_api,
    each_other_api,
    each_other_everyday_api,
    flexible_versions,
    harmless_request,
    served_versions,
)
from suites.protocol.support.healthy import HELD_UP_MS, expect_healthy, healthy

INT32_MAX, INT32_MIN = 2**31 - 1, -(2**31)
SILENCE_MS = 50


@judges("CONN-001")
@each_everyday_api
def test_response_size_field_counts_exactly_bytes_that_follow(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """The first frame's size ends where the next frame begins: nothing is left, nothing lacks."""
    version = served_versions(broker, api_name)[-1]
    connection = broker.connect("CONN-001")
    with requirement("CONN-001", api_key=api_named(api_name).key, api_version=version):
        for correlation_id in (11, 13):
            connection.send_frame(
                encode_request(
                    harmless_request(broker, api_name, version), version, correlation_id, "CONN-001"
                )
            )
            expect_answers(connection, [correlation_id])
        connection.send_frame(encode_request(healthy(broker), 0, 14, "CONN-001"))
        expect_answers(connection, [14])
        connection.expect_silence(for_ms=1)


@judges("CONN-002")
def test_broker_sends_nothing_on_connect_and_serves_first_request(broker: BrokerUnderTest) -> None:
    """A new connection is silent; its first request is answered without any handshake."""
    version = broker.version("Metadata")
    connection = broker.connect("CONN-002")
    with requirement("CONN-002"):
        connection.expect_silence(for_ms=broker.scaled_ms(SILENCE_MS))
        connection.send(MetadataRequest(topics=[]), version, correlation_id=2002)
        expect_answers(connection, [2002])


@judges("CONN-003")
@pytest.mark.parametrize("correlation_id", [0, -1, INT32_MAX, INT32_MIN, 0x01020304])
def test_correlation_id_is_returned_unmodified(
    broker: BrokerUnderTest, correlation_id: int
) -> None:
    """Any int32 is echoed unmodified."""
    connection = broker.connect()
    with requirement("CONN-003"):
        connection.send(healthy(broker), 0, correlation_id=correlation_id)
        found = correlation_id_of(connection.receive_frame())
        assert found == correlation_id, f"{correlation_id} was sent, {found} came back"


def _mixed_requests(broker: BrokerUnderTest, count: int) -> list[tuple[Request[Message], int]]:
    names = ("ApiVersions", "Metadata", "ListOffsets", "FindCoordinator")
    versions = {name: broker.version(name) for name in names if broker.advertised(name)}
    choices: dict[str, Request[Message]] = {
        "ApiVersions": ApiVersionsRequest(),
        "Metadata": MetadataRequest(topics=[]),
        "ListOffsets": ListOffsetsRequest(replica_id=-1, topics=[]),
    }
    if "FindCoordinator" in versions:
        choices["FindCoordinator"] = harmless_request(
            broker, "FindCoordinator", versions["FindCoordinator"]
        )
    picks = [broker.random.choice(list(versions)) for _ in range(count)]
    return [(choices[pick], versions[pick]) for pick in picks]


@judges("CONN-004")
def test_pipelined_requests_are_answered_in_order_sent(broker: BrokerUnderTest) -> None:
    """Fifty requests of several APIs in one write: the answers come in the order sent."""
    requests = _mixed_requests(broker, 50)
    connection = broker.connect()
    payloads = [
        frame(encode_request(message, version, correlation_id))
        for correlation_id, (message, version) in enumerate(requests, start=1000)
    ]
    with requirement("CONN-004"):
        connection.send_bytes(b"".join(payloads))
        expect_answers(connection, list(range(1000, 1000 + len(requests))))


@judges("CONN-005")
def test_later_request_does_not_overtake_long_poll_fetch(broker: BrokerUnderTest) -> None:
    """A waiting Fetch is answered before the ApiVersions that was sent after it."""
    topic = broker.create_topic()
    version = broker.reading_version(topic)
    wait_ms = int(broker.scaled_ms(300))
    wanted = [fetch_topic(topic, version, [fetch_partition(0)])]
    fetch = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
    connection = broker.connect()
    with requirement("CONN-005"):
        connection.send(fetch, version, correlation_id=71)
        connection.send(healthy(broker), 0, correlation_id=72)
        expect_answers(connection, [71, 72])


@judges("CONN-006")
def test_thousand_pipelined_requests_are_all_answered(broker: BrokerUnderTest) -> None:
    """All requests are written before an answer is read; each is answered."""
    connection = broker.connect()
    ids = list(range(5000, 6000))
    with requirement("CONN-006"):
        connection.send_bytes(
            b"".join(frame(encode_request(healthy(broker), 0, one)) for one in ids)
        )
        expect_answers(connection, ids)


@judges("CONN-007")
def test_long_poll_fetch_does_not_block_other_connection(broker: BrokerUnderTest) -> None:
    """While a Fetch waits on one connection, another connection is answered."""
    topic = broker.create_topic()
    version = broker.reading_version(topic)
    wait_ms = int(broker.scaled_ms(2 * HELD_UP_MS))
    wanted = [fetch_topic(topic, version, [fetch_partition(0)])]
    fetch = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
    waiting, other = broker.connect(), broker.connect("CONN-007", timeout_ms=HELD_UP_MS)
    waiting.send(fetch, version)
    with requirement("CONN-007"):
        with in_time(broker.scaled_ms(HELD_UP_MS)):
            for _ in range(10):
                expect_healthy(other, broker)
        waiting.expect_silence(for_ms=1)  # so it did wait all the time
    # an append ends the wait, so that nothing is left waiting at the broker; FETCH-007 judges that
    broker.produce(topic, batch_of(b"wake up"))
    with suppress(ResponseTimeout):
        waiting.receive(broker.scaled_ms(2_000))


@judges("CONN-008")
@each_api
def test_each_request_gets_exactly_one_response(broker: BrokerUnderTest, api_name: str) -> None:
    """One answer, also for a request that names a topic which does not exist."""
    version = served_versions(broker, api_name)[-1]
    requests: list[tuple[Request[Message], int]] = [
        (harmless_request(broker, api_name, version), version),
        (harmless_request(broker, api_name, version, Topic(broker.unique_topic())), version),
        (healthy(broker), 0),
    ]
    connection = broker.connect()
    with requirement("CONN-008", api_key=api_named(api_name).key, api_version=version):
        for correlation_id, (message, at_version) in enumerate(requests, start=80):
            connection.send(message, at_version, correlation_id=correlation_id)
        expect_answers(connection, [80, 81, 82])
        connection.expect_silence(for_ms=1)


@judges("CONN-008")
@at_versions("Produce", "0-2", "3+")
def test_produce_with_acks_0_gets_no_response(broker: BrokerUnderTest, api_version: int) -> None:
    """Produce with acks=0 gets no answer; the request after it is answered next."""
    topic = broker.create_topic()
    batch = batch_of(b"x", version=api_version)
    connection = broker.connect()
    with requirement("CONN-008"):
        connection.send(produce_request(topic, batch, api_version, acks=0), api_version)
        connection.send(healthy(broker), 0, correlation_id=88)
        assert correlation_id_of(connection.receive_frame()) == 88, "acks=0 was answered"
        broker.eventually(lambda: broker.end_offset(topic) == 1, "the batch is appended")


@judges("CONN-010")
def test_oversize_frame_closes_connection(broker: BrokerUnderTest) -> None:
    """A length above any socket.request.max.bytes (an int32): closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-010"):
        connection.send_bytes(struct.pack(">i", INT32_MAX))
        connection.expect_closed()


@judges("CONN-011")
@pytest.mark.parametrize("length", [-1, INT32_MIN])
def test_negative_frame_size_closes_connection(broker: BrokerUnderTest, length: int) -> None:
    """A negative length: closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-011"):
        connection.send_bytes(struct.pack(">i", length))
        connection.expect_closed()


@judges("CONN-012")
@pytest.mark.parametrize("length", [0, 2, 4])
def test_frame_too_short_for_header_closes_connection(broker: BrokerUnderTest, length: int) -> None:
    """A frame too short for a request header: closed without an answer."""
    connection = broker.connect()
    with requirement("CONN-012"):
        connection.send_frame(struct.pack(">hh", 18, 0)[:length])
        connection.expect_closed()


@judges("CONN-013")
@pytest.mark.parametrize("api_key", [-1, 9999])
def test_unknown_api_key_closes_only_its_connection(broker: BrokerUnderTest, api_key: int) -> None:
    """A key beyond the table: closed without an answer, this connection and not the broker."""
    connection = broker.connect()
    with requirement("CONN-013"):
        connection.send_frame(struct.pack(">hhih", api_key, 0, 1, -1))
        connection.expect_closed()
        assert broker.is_alive(), "closed, and the broker does not answer another connection"


@judges("CONN-014")
@pytest.mark.parametrize("beyond", ["below", "above"])
@each_other_everyday_api
def test_request_at_unsupported_version_closes_connection(
    broker: BrokerUnderTest, api_name: str, beyond: str
) -> None:
    """The version next to the advertised range of a known API: closed without an answer."""
    broker.version(api_name)
    advertised = broker.shown(api_name)
    version = advertised.lowest - 1 if beyond == "below" else advertised.highest + 1
    key = api_named(api_name).key
    connection = broker.connect()
    with requirement("CONN-014", api_key=key, api_version=version):
        connection.send_frame(struct.pack(">hhih", key, version, 1, -1) + b"\0" * 16)
        connection.expect_closed()


@judges("CONN-016")
@at_versions("Metadata")
def test_metadata_request_cut_in_body_closes_only_its_connection(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A request that ends inside its body closes its own connection and no other."""
    name = f"{broker.unique_topic()}-a-topic-that-is-named"
    topics = [MetadataRequest.MetadataRequestTopic(name=name)]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=api_version < 4)
    whole = encode_request(request, api_version, 1)
    body_bytes = len(whole) - len(encode_request(MetadataRequest(topics=[]), api_version, 1))
    bystander = broker.connect()
    with requirement("CONN-016") as check:
        for cut in range(1, body_bytes + 1):
            with check.subtest(f"{cut} bytes cut"):
                connection = broker.connect()
                connection.send_frame(whole[:-cut])
                connection.expect_closed()
                connection.close()
        expect_healthy(bystander, broker)


@judges("CONN-019")
@pytest.mark.parametrize("client_id", [None, ""], ids=["null", "empty"])
def test_produce_with_null_or_empty_client_id_is_accepted(
    broker: BrokerUnderTest, client_id: str | None
) -> None:
    """A Produce without a client id, or with an empty one, is served at every version."""
    topic = broker.create_topic()
    connection = broker.connect(client_id)
    key = api_named("Produce").key
    for version in served_versions(broker, "Produce"):
        request = produce_request(topic, batch_of(b"x", version=version), version)
        with requirement("CONN-019", api_key=key, api_version=version):
            topic_answer = only(connection.ask(request, version).responses, "topic")
            answer = only(topic_answer.partition_responses, "partition")
            expect_error(answer.error_code, ErrorCode.NONE)


@judges("CONN-020")
def test_frame_sent_byte_by_byte_is_answered(broker: BrokerUnderTest) -> None:
    """A frame sent byte by byte is answered like any other."""
    data = frame(encode_request(healthy(broker), 0, 5, "CONN-020"))
    connection = broker.connect()
    with requirement("CONN-020"):
        for at in range(len(data)):
            connection.send_bytes(data[at : at + 1])  # TCP_NODELAY: a segment each
        expect_answers(connection, [5])


@judges("CONN-021")
def test_several_frames_in_one_segment_are_all_answered(broker: BrokerUnderTest) -> None:
    """Ten frames in one write get ten answers."""
    connection = broker.connect()
    frames = [frame(encode_request(healthy(broker), 0, one, "CONN-021")) for one in range(10)]
    with requirement("CONN-021"):
        connection.send_bytes(b"".join(frames))
        expect_answers(connection, list(range(10)))


@judges("CONN-025")
@pytest.mark.parametrize("api_name", TOPIC_APIS)
def test_topic_responses_have_format_of_request_version(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """At every version the whole answer can be read in that version's layout, to its last byte.

    The answers here hold a partition, that of Fetch records too; test_sweep.py asks every API.
    """
    versions = served_versions(broker, api_name)
    topic = broker.create_topic()
    if api_name == "Fetch":
        broker.produce(topic, batch_of(b"to be fetched"))
    connection = broker.connect("CONN-025")
    for version in versions:
        with requirement("CONN-025", api_key=api_named(api_name).key, api_version=version):
            connection.ask(harmless_request(broker, api_name, version, topic), version)


@judges("CONN-026")
@each_other_api
def test_flexible_versions_use_request_header_v2_and_response_header_v1(
    broker: BrokerUnderTest, api_name: str
) -> None:
    """Request header v2 is read; behind the answer's correlation id stand tagged fields."""
    api = api_named(api_name)
    connection = broker.connect()
    for version in flexible_versions(broker, api_name):
        request = encode_request(
            harmless_request(broker, api_name, version), version, 26, "CONN-026"
        )
        with requirement("CONN-026", api_key=api.key, api_version=version):
            connection.send_frame(request)
            payload = connection.receive_frame()
            header, body = decode_prefix(ResponseHeader, 1, payload)
            assert header.correlation_id == 26
            decode(api.response, version, payload[body:])


@judges("CONN-027")
@at_versions("ApiVersions", "3+")
def test_api_versions_v3_and_later_responds_with_header_v0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Behind the four bytes of the correlation id the body begins at once."""
    connection = broker.connect("CONN-027")
    with requirement("CONN-027"):
        connection.send(harmless_request(broker, "ApiVersions", api_version), api_version)
        payload = connection.receive_frame()
        answer = decode(ApiVersionsResponse, api_version, payload[4:])
        expect_error(answer.error_code, ErrorCode.NONE)
