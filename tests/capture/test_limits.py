"""Memory is bounded: data over a limit is skipped and reported."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from harness.capture.events import Notice
from harness.capture.follow import Follower
from harness.capture.frame_reader import CUT_CLOSED, CUT_END, CUT_GAP, CUT_LONG
from harness.capture.limits import MIB, CaptureLimits
from harness.capture.segment import ACK, FIN, RST, SocketAddress, TcpSegment
from harness.codec.frame import frame
from harness.codec.header import encode_request
from harness.codec.messages import HeartbeatRequest, HeartbeatResponse, ProduceRequest
from labs.captures.recorded import messages
from tests.capture.made import BROKER, CLIENT, Conversation

pytestmark = pytest.mark.rotates(8)

SMALL = CaptureLimits(
    out_of_order_bytes=MIB // 4,
    frame_bytes=MIB // 4,
    search_bytes=MIB // 4,
    pending_bytes=MIB // 4,
    pending_requests=100,
    connections=50,
)


def big_produce(acks: int, size: int) -> ProduceRequest:
    partition = ProduceRequest.PartitionProduceData(records=bytes(size))
    topic = ProduceRequest.TopicProduceData(name="orders", partition_data=[partition])
    return ProduceRequest(acks=acks, topic_data=[topic])


def peak_of(segments: Iterator[TcpSegment], limits: CaptureLimits = SMALL) -> tuple[int, Follower]:
    """The most memory that was held while the segments were followed, in bytes."""
    follower = Follower([BROKER.port], limits)
    tracemalloc.start()
    try:
        for _ in follower.events(segments):
            pass
        return tracemalloc.get_traced_memory()[1], follower
    finally:
        tracemalloc.stop()


def stream(
    source: SocketAddress, data: bytes, times: int, hole_at: int = -1
) -> Iterator[TcpSegment]:
    """The same bytes again and again, as one direction of a connection."""
    other = BROKER if source == CLIENT else CLIENT
    seq = 0
    for number in range(times):
        if number != hole_at:
            yield TcpSegment(number, source, other, seq, 0, ACK, data, 0)
        seq = (seq + len(data)) % 2**32


def test_oversize_frame_keeps_only_its_header() -> None:
    talk = Conversation().open().request(big_produce(-1, MIB), 9, 1, "big")
    talk.response(HeartbeatResponse(), 4, 99).request(HeartbeatRequest(), 4, 2)
    found = messages(list(Follower(limits=SMALL).events(talk.segments)))
    assert [m.correlation_id for m in found] == [1, 99, 2]
    assert (found[0].cut, found[0].message, found[0].client_id) == (CUT_LONG, None, "big")
    assert found[0].length > MIB
    assert len(found[0].payload) < 5000
    assert found[0].answer_expected


def test_acks_of_oversize_produce_are_read() -> None:
    for version in (3, 8, 9, 12):
        talk = Conversation().open().request(big_produce(0, MIB), version, 1)
        (found,) = messages(list(Follower(limits=SMALL).events(talk.segments)))
        assert (found.cut, found.answer_expected) == (CUT_LONG, False), version


def test_gap_in_long_frame_does_not_lose_next_frame() -> None:
    talk = Conversation().open().request(big_produce(-1, 10_000), 9, 1)
    talk.request(HeartbeatRequest(), 4, 2)
    lost = talk.segments[3 + 2 * 4]
    assert len(lost.payload) == 1400
    captured = [segment for segment in talk.segments if segment is not lost]
    events = list(Follower().events(captured))
    found = messages(events)
    assert [(m.correlation_id, m.cut) for m in found] == [(1, CUT_GAP), (2, "")]
    assert [e.count for e in events if isinstance(e, Notice) and e.kind == "lost"] == [1400]


def test_frame_cut_by_end_of_capture_is_marked() -> None:
    talk = Conversation().open().request(big_produce(-1, 10_000), 9, 1)
    (found,) = messages(list(Follower().events(talk.segments[:7])))
    assert (found.cut, found.correlation_id) == (CUT_END, 1)


@pytest.mark.parametrize("flags", [FIN | ACK, RST])
def test_frame_cut_by_end_of_connection_is_marked(flags: int) -> None:
    talk = Conversation().open().request(big_produce(-1, 10_000), 9, 1)
    *begun, last = talk.segments[:8]
    end = last._replace(source=CLIENT, destination=BROKER, flags=flags, payload=b"")
    end = end._replace(seq=begun[-1].seq + len(begun[-1].payload))
    (found,) = messages(list(Follower().events([*begun, end])))
    assert (found.cut, found.correlation_id) == (CUT_CLOSED, 1)


def test_memory_is_bounded_for_non_kafka_stream() -> None:
    peak, follower = peak_of(stream(CLIENT, bytes(range(256)) * 256, 200))
    assert peak < 4 * MIB
    assert follower.totals.skipped_bytes == 200 * 65536


def test_memory_is_bounded_behind_unacknowledged_gap() -> None:
    data = frame(encode_request(HeartbeatRequest(group_id="g" * 1000), 4, 1, "c")) * 60
    peak, follower = peak_of(stream(CLIENT, data, 120, hole_at=20))
    assert peak < 6 * MIB
    assert follower.totals.lost_bytes == len(data)
    assert follower.totals.requests == 60 * 119


def test_memory_is_bounded_for_unanswered_requests() -> None:
    data = frame(encode_request(big_produce(-1, 50_000), 9, 1, "c"))
    peak, follower = peak_of(stream(CLIENT, data, 400))
    assert peak < 4 * MIB
    assert (follower.totals.requests, follower.totals.one_sided_connections) == (400, 1)


def test_memory_is_bounded_for_many_connections() -> None:
    def openings() -> Iterator[TcpSegment]:
        for number in range(800):
            client = SocketAddress(number.to_bytes(4, "big"), 40000)
            talk = Conversation(client=client).open()
            yield from talk.request(big_produce(-1, 1000), 9, 1).segments

    peak, follower = peak_of(openings())
    assert peak < 6 * MIB
    events = list(Follower([BROKER.port], SMALL).events(openings()))
    closed = [e for e in events if isinstance(e, Notice) and e.kind == "limit"]
    assert len(closed) == 800 - SMALL.connections
    assert "more than 50 connections" in closed[0].text
    assert follower.totals.connections == follower.totals.requests == 800
