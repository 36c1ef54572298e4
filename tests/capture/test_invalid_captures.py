"""Invalid captures: whatever they contain, reading goes on to the end."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.capture.events import Captured
from harness.capture.follow import Follower
from harness.capture.limits import CaptureLimits
from harness.capture.lines import line_of, object_of
from harness.capture.segment import TcpSegment
from labs.captures.recorded import FOLDER, segments
from labs.message_values.values import QUICK
from tests.capture.made import BROKER, CLIENT

pytestmark = pytest.mark.rotates(8)

REAL = segments(FOLDER / "kafka-4.4.0-librdkafka.pcap")
TIGHT = CaptureLimits(
    out_of_order_bytes=500,
    acknowledged_patience=3,
    patience=10,
    start_packets=3,
    plausible_frame_bytes=100_000,
    frame_bytes=300,
    search_bytes=400,
    pending_requests=3,
    pending_bytes=200,
    connections=3,
)
PORTS = st.sampled_from([(), (BROKER.port,), (REAL[0].destination.port,)])
LIMITS_TRIED = st.sampled_from([TIGHT, CaptureLimits()])


def follow_all(found: list[TcpSegment], ports: tuple[int, ...], limits: CaptureLimits) -> None:
    follower = Follower(ports, limits)
    seen = 0
    for event in follower.events(found):
        assert line_of(event, verbose=True)
        assert object_of(event, verbose=True)
        if isinstance(event, Captured):
            seen += 1
            whole = not event.cut
            assert len(event.payload) == event.length if whole else event.message is None
    totals = follower.totals
    assert seen == totals.requests + totals.responses + totals.tokens


@st.composite
def spoiled(draw: st.DrawFn) -> list[TcpSegment]:
    """A part of a real capture, of which some packets lack or have other bytes or numbers."""
    start = draw(st.integers(0, len(REAL) - 40))
    found = []
    for segment in REAL[start : start + 40]:
        kind = draw(st.integers(0, 9))
        if kind == 0:
            continue
        if kind == 1 and segment.payload:
            at = draw(st.integers(0, len(segment.payload) - 1))
            noise = draw(st.binary(min_size=1, max_size=8))
            changed = segment.payload[:at] + noise + segment.payload[at + len(noise) :]
            found.append(segment._replace(payload=changed))
        elif kind == 2:
            moved = draw(st.integers(-2000, 2000))
            found.append(segment._replace(seq=(segment.seq + moved) % 2**32))
        elif kind == 3:
            found.append(segment._replace(flags=draw(st.integers(0, 63))))
        elif kind == 4:
            found.append(segment._replace(ack=draw(st.integers(0, 2**32 - 1))))
        elif kind == 5:
            cut = draw(st.integers(0, len(segment.payload)))
            missing = len(segment.payload) - cut
            found.append(segment._replace(payload=segment.payload[:cut], missing=missing))
        else:
            found.append(segment)
    return found


@settings(QUICK, max_examples=300)
@given(spoiled(), PORTS, LIMITS_TRIED)
def test_follower_reads_damaged_capture_to_its_end(
    found: list[TcpSegment], ports: tuple[int, ...], limits: CaptureLimits
) -> None:
    follow_all(found, ports, limits)


@st.composite
def nonsense(draw: st.DrawFn) -> TcpSegment:
    source, destination = draw(st.permutations([CLIENT, BROKER]))
    payload = draw(st.binary(max_size=60) | st.sampled_from([s.payload for s in REAL]))
    number = st.integers(0, 300) | st.integers(2**32 - 300, 2**32 - 1)
    flags, missing = draw(st.integers(0, 63)), draw(st.sampled_from([0, 0, 0, 5]))
    time_ns, seq, ack = draw(st.integers(0, 100)), draw(number), draw(number)
    return TcpSegment(time_ns, source, destination, seq, ack, flags, payload, missing)


@settings(QUICK, max_examples=300)
@given(st.lists(nonsense(), max_size=30), PORTS, LIMITS_TRIED)
def test_follower_reads_arbitrary_segments_to_their_end(
    found: list[TcpSegment], ports: tuple[int, ...], limits: CaptureLimits
) -> None:
    follow_all(found, ports, limits)
