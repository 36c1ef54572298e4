"""The server's side, messages of one conversation, and bytes that are no Kafka frames: SASL tokens,
TLS, HTTP.
"""

from __future__ import annotations

import pytest

from harness.capture.events import REQUEST, RESPONSE, Captured, Event, Notice
from harness.capture.segment import SocketAddress
from harness.codec.error_code import ErrorCode
from harness.codec.frame import frame
from harness.codec.header import encode_request, encode_response
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from labs.captures.recorded import follow, messages
from tests.capture.made import BROKER, CLIENT, Conversation, without_syn

HELLO = b"\x16\x03\x01\x00\x05hello"


def heard(talk: Conversation, *ports: int) -> list[Captured]:
    return messages(follow(talk.segments, *ports)[0])


def shown(found: list[Captured]) -> list[tuple[str, str | None, int | None]]:
    return [(m.direction, m.api.name if m.api else None, m.correlation_id) for m in found]


def notices(events: list[Event], kind: str) -> list[Notice]:
    return [event for event in events if isinstance(event, Notice) and event.kind == kind]


def beats(talk: Conversation, *numbers: int) -> Conversation:
    for number in numbers:
        talk.request(HeartbeatRequest(group_id="g"), 4, number)
        talk.response(HeartbeatResponse(), 4, number)
    return talk


BEAT = [(REQUEST, "Heartbeat", 1), (RESPONSE, "Heartbeat", 1)]


@pytest.mark.parametrize("ports", [(), (BROKER.port,)], ids=["no-port", "port"])
@pytest.mark.parametrize("syn", [True, False])
@pytest.mark.parametrize("version", [4, 6])
def test_side_that_receives_requests_is_server(
    ports: tuple[int, ...], syn: bool, version: int
) -> None:
    ends = (CLIENT, BROKER)
    if version == 6:
        ends = (SocketAddress(bytes(15) + b"\1", 40000), SocketAddress(bytes(15) + b"\1", 9092))
    talk = beats(Conversation(*ends).open(), 1).close()
    found = messages(follow(talk.segments if syn else without_syn(talk.segments), *ports)[0])
    assert shown(found) == BEAT
    assert {(m.connection.client, m.connection.server) for m in found} == {ends}


def test_syn_overrides_given_port_for_server_side() -> None:
    found = heard(beats(Conversation().open(), 1), CLIENT.port)
    assert shown(found) == BEAT
    assert found[0].connection.server == BROKER


def test_late_syn_still_gives_all_messages_in_order() -> None:
    talk = beats(Conversation().open(), 1, 2).close()
    first, second, *rest = talk.segments
    found = messages(follow([*rest[:3], second, *rest[3:5], first, *rest[5:]])[0])
    assert [m.correlation_id for m in found] == [1, 1, 2, 2]


def test_frame_across_sequence_number_wrap_is_decoded() -> None:
    talk = Conversation(first_seq=2**32 - 700).open()
    talk.request(HeartbeatRequest(group_id="g" * 3000), 4, 1)
    talk.response(HeartbeatResponse(), 4, 1)
    assert shown(heard(talk)) == BEAT


def test_reused_ports_make_new_connection() -> None:
    talk = beats(Conversation().open(), 1)
    again = beats(Conversation(first_seq=5_000_000).open(), 1).close()
    events, follower = follow([*talk.segments, *again.segments])
    assert [m.connection.number for m in messages(events)] == [1, 1, 2, 2]
    assert follower.totals.connections == 2


def test_late_retransmissions_begin_no_connection() -> None:
    talk = beats(Conversation().open(), 1).close()
    copies = [segment for segment in talk.segments if segment.payload]
    _, follower = follow([*talk.segments, *copies])
    assert (follower.totals.connections, follower.totals.other_connections) == (1, 0)


def test_in_flight_requests_are_paired_with_responses_in_order() -> None:
    talk = Conversation().open()
    for number in (1, 2, 3):
        talk.request(HeartbeatRequest(), 4, number)
    for number in (1, 2, 3):
        talk.response(HeartbeatResponse(throttle_time_ms=number), 4, number)
    found = [m for m in heard(talk) if m.direction == RESPONSE]
    assert [m.request and m.request.correlation_id for m in found] == [1, 2, 3]


def test_equal_correlation_ids_are_matched_in_order() -> None:
    talk = Conversation().open()
    talk.request(HeartbeatRequest(), 4, 0).request(MetadataRequest(), 4, 0)
    talk.response(HeartbeatResponse(), 4, 0).response(MetadataResponse(), 4, 0)
    names = ["Heartbeat", "Metadata"]
    assert [m.api.name for m in heard(talk) if m.api] == names * 2


def test_produce_with_acks_0_expects_no_response() -> None:
    talk = Conversation().open().request(ProduceRequest(acks=0), 9, 1)
    beats(talk, 2).close()
    events, follower = follow(talk.segments)
    assert [m.answer_expected for m in messages(events)] == [False, True, True]
    assert follower.totals.unanswered == 0


def test_request_without_response_is_reported() -> None:
    talk = Conversation().open().request(MetadataRequest(), 4, 1)
    beats(talk, 2).request(MetadataRequest(), 5, 3).close()
    events, follower = follow(talk.segments)
    told = [notice.text for notice in notices(events, "unanswered")]
    assert told == [
        "no response to Metadata v4, correlation id 1",
        "no response to Metadata v5, correlation id 3",
    ]
    assert follower.totals.unanswered == 2


def test_unsupported_version_response_is_decoded_as_version_0() -> None:
    refusal = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    talk = Conversation().open()
    talk.request(ApiVersionsRequest(client_software_name="c"), 4, 1)
    talk.response(refusal, 0, 1)
    _, response = heard(talk)
    assert (response.message, response.version) == (refusal, 0)
    assert dict(response.errors) == {"UNSUPPORTED_VERSION": 1}


def test_unknown_request_version_is_reported_and_response_is_decoded() -> None:
    header = b"\0\x12\0\x63\0\0\0\1\0\1c\0"
    talk = Conversation().open().send(CLIENT, frame(header + b"new fields"))
    talk.response(ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION), 0, 1)
    beats(talk, 2)
    request, response, *rest = heard(talk)
    assert (request.version, request.client_id) == (99, "c")
    assert "ApiVersions has versions 0-5, not 99" in str(request.problem)
    assert dict(response.errors) == {"UNSUPPORTED_VERSION": 1}
    assert len(rest) == 2


def test_undecodable_body_is_reported_and_later_messages_are_decoded() -> None:
    broken = encode_request(HeartbeatRequest(group_id="g"), 4, 1, "c")[:-3]
    talk = Conversation().open().send(CLIENT, frame(broken))
    talk.send(BROKER, frame(encode_response(HeartbeatResponse(), 4, 1)[:-3]))
    events, follower = follow(beats(talk, 2).segments)
    request, response, *rest = messages(events)
    assert "HeartbeatRequest v4" in str(request.problem)
    assert "HeartbeatResponse v4" in str(response.problem)
    assert (request.correlation_id, request.client_id) == (1, "c")
    assert shown(rest) == [(d, n, 2) for d, n, _ in BEAT]
    assert follower.totals.undecodable == 2


# SASL


def handshake(version: int) -> Conversation:
    talk = Conversation().open()
    talk.request(SaslHandshakeRequest(mechanism="PLAIN"), version, 1)
    return talk.response(SaslHandshakeResponse(mechanisms=["PLAIN"]), version, 1)


@pytest.mark.parametrize("last_answer", [b"", b"v=server", None])
def test_sasl_tokens_after_v0_handshake_have_no_header(last_answer: bytes | None) -> None:
    talk = handshake(0).send(CLIENT, frame(b"n,,n=user,r=nonce"))
    talk.send(BROKER, frame(b"r=nonce,s=salt,i=4096")).send(CLIENT, frame(b"c=biws,p=proof"))
    if last_answer is not None:  # a null answer is not sent
        talk.send(BROKER, frame(last_answer))
    beats(talk, 2)
    events, follower = follow(talk.segments)
    found = messages(events)[2:]
    tokens = 4 if last_answer is not None else 3
    assert sum(m.token for m in found) == follower.totals.tokens == tokens
    assert shown(found)[tokens:] == [(d, n, 2) for d, n, _ in BEAT]
    assert follower.totals.undecodable == follower.totals.unmatched == 0
    assert follower.totals.unanswered == 0


def test_sasl_v1_handshake_is_followed_by_requests() -> None:
    talk = handshake(1).request(SaslAuthenticateRequest(auth_bytes=b"\0user\0secret"), 2, 2)
    assert [m.token for m in heard(talk)] == [False] * 3


def test_refused_sasl_handshake_is_followed_by_requests() -> None:
    talk = Conversation().open().request(SaslHandshakeRequest(mechanism="X"), 0, 1)
    talk.response(SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM), 0, 1)
    assert [m.token for m in heard(beats(talk, 2))] == [False] * 4


def test_gssapi_tokens_without_handshake_are_recognized() -> None:
    talk = Conversation().open().send(CLIENT, frame(b"\x60\x82\x01\x02 token"))
    talk.send(BROKER, frame(b"\x60\x05 answer")).send(CLIENT, frame(b"\x05\x04 wrapped"))
    talk.send(BROKER, frame(b"\x05\x04 last"))
    found = heard(beats(talk, 2))
    assert [m.token for m in found] == [True] * 4 + [False] * 2


# Not Kafka


def test_tls_connection_is_recognized_and_reported_once() -> None:
    talk = Conversation().open().send(CLIENT, HELLO).send(BROKER, HELLO).send(CLIENT, HELLO)
    events, follower = follow(talk.segments)
    assert [notice.text for notice in notices(events, "tls")] == ["TLS: cannot be read"]
    assert len(events) == follower.totals.encrypted_connections == 1
    assert follower.totals.connections == 0


@pytest.mark.parametrize("syn", [True, False])
def test_other_protocol_connection_is_only_counted(syn: bool) -> None:
    talk = Conversation().open().send(CLIENT, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
    talk.send(BROKER, b"HTTP/1.1 200 OK\r\n\r\n").close()
    events, follower = follow(talk.segments if syn else without_syn(talk.segments))
    assert events == []
    assert follower.totals.other_connections == 1


def test_skipped_bytes_on_given_port_are_reported() -> None:
    talk = Conversation().open().send(CLIENT, b"GET / HTTP/1.1\r\n\r\n").close()
    events, follower = follow(talk.segments, BROKER.port)
    assert [notice.count for notice in notices(events, "skipped")] == [18]
    assert follower.totals.skipped_bytes == 18


def test_connections_on_other_ports_are_ignored() -> None:
    _, follower = follow(beats(Conversation().open(), 1).segments, 1234)
    assert (follower.totals.connections, follower.totals.other_connections) == (0, 0)
