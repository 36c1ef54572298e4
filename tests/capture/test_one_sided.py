"""One direction of a connection: the other is unknown, and is not reported as missing."""

from __future__ import annotations

import pytest

from harness.capture.events import REQUEST, RESPONSE, Event, Notice
from harness.capture.segment import ACK, SocketAddress, TcpSegment
from harness.codec.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from labs.captures.recorded import follow, messages
from tests.capture.made import BROKER, CLIENT, Conversation, without_syn

APIS = [
    ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=1) for key in range(9)
]


def talk() -> Conversation:
    made = Conversation().open()
    made.request(ApiVersionsRequest(), 0, 1).response(ApiVersionsResponse(api_keys=APIS), 0, 1)
    for number in (2, 3):
        made.request(HeartbeatRequest(group_id="g"), 4, number)
        made.response(HeartbeatResponse(), 4, number)
    return made


def sent_by(end: SocketAddress, *, syn: bool) -> list[TcpSegment]:
    segments = talk().segments if syn else without_syn(talk().segments)
    return [segment for segment in segments if segment.source == end]


def one_sided(events: list[Event]) -> list[str]:
    return [e.text for e in events if isinstance(e, Notice) and e.kind == "one_sided"]


@pytest.mark.parametrize("syn", [True, False])
def test_requests_alone_are_decoded_and_responses_are_not_reported_missing(syn: bool) -> None:
    events, follower = follow(sent_by(CLIENT, syn=syn))
    found = messages(events)
    assert [(m.direction, m.correlation_id) for m in found] == [(REQUEST, n) for n in (1, 2, 3)]
    text = f"no packet of {BROKER} was captured: the responses are not known"
    assert one_sided(events) == [text]
    assert (follower.totals.unanswered, follower.totals.one_sided_connections) == (0, 1)


@pytest.mark.parametrize("ports", [(), (BROKER.port,)], ids=["no-port", "port"])
@pytest.mark.parametrize("syn", [True, False])
def test_responses_alone_are_recognised_by_api_versions(syn: bool, ports: tuple[int, ...]) -> None:
    events, follower = follow(sent_by(BROKER, syn=syn), *ports)
    found = messages(events)
    assert [(m.direction, m.correlation_id) for m in found] == [(RESPONSE, n) for n in (1, 2, 3)]
    assert all(m.api is None and m.problem is None for m in found)
    assert {m.connection.server for m in found} == {BROKER}
    assert one_sided(events) == [f"no packet of {CLIENT} was captured: the requests are not known"]
    assert follower.totals.connections == 1


def test_responses_alone_without_api_versions_need_the_port() -> None:
    alone = [s for s in sent_by(BROKER, syn=False) if s.payload][1:]
    events, follower = follow(alone)
    assert (events, follower.totals.other_connections) == ([], 1)
    assert [m.correlation_id for m in messages(follow(alone, BROKER.port)[0])] == [2, 3]


def test_captured_side_without_bytes_is_no_missing_side() -> None:
    made = Conversation().open().request(HeartbeatRequest(), 4, 1)
    events, follower = follow(made.segments)
    assert one_sided(events) == []
    (notice,) = (event for event in events if isinstance(event, Notice))
    assert notice.text == "no response to Heartbeat v4, correlation id 1 before the capture ended"
    assert follower.totals.unanswered == 1


def test_request_without_response_at_closed_connection_names_no_end_of_capture() -> None:
    made = Conversation().open().request(HeartbeatRequest(), 4, 1).close()
    (notice,) = (event for event in follow(made.segments)[0] if isinstance(event, Notice))
    assert notice.text == "no response to Heartbeat v4, correlation id 1"


def test_acknowledgements_alone_begin_no_conversation() -> None:
    made = [s for s in talk().segments if s.flags == ACK and not s.payload]
    events, follower = follow(made)
    assert events == []
    assert follower.totals.other_connections == follower.totals.connections == 0
