"""TCP put together again: however the bytes came, the frames are the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.capture.limits import LIMITS, CaptureLimits
from harness.capture.reassembly import Chunk, Reassembly
from harness.capture.segment import FIN, SYN, TcpSegment
from labs.captures.recorded import FOLDER, by_connection, follow, messages, segments
from labs.message_values.values import QUICK

DATA = bytes(range(256)) * 4
REAL = FOLDER / "kafka-4.4.0-python.pcap"


def joined(chunks: Sequence[Chunk]) -> bytes:
    """The received bytes, with a ? for each lost one."""
    return b"".join(chunk.data or b"?" * chunk.lost for chunk in chunks)


@st.composite
def pieces(draw: st.DrawFn) -> list[tuple[int, int]]:
    """(start, end) of segments that cover DATA: cut anywhere, overlapping, repeated, shuffled."""
    cuts = sorted(draw(st.sets(st.integers(1, len(DATA) - 1), max_size=12)))
    edges = [0, *cuts, len(DATA)]
    found = list(pairwise(edges))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(DATA) - 1))
        found.append((start, draw(st.integers(start + 1, len(DATA)))))
    return draw(st.permutations(found))


@QUICK
@given(pieces(), st.integers(0, 2**32 - 1))
def test_shuffled_overlapping_segments_reassemble_to_original_bytes(
    parts: list[tuple[int, int]], first: int
) -> None:
    stream = Reassembly(LIMITS)
    stream.begin(first)
    chunks: list[Chunk] = []
    for start, end in parts:
        chunks += stream.feed((first + start) % 2**32, DATA[start:end], 0, 1)
        chunks += stream.packet_passed(1)
    assert joined(chunks) == DATA
    assert stream.finish(1) == []
    assert stream.repeated_bytes == 0 or sum(e - s for s, e in parts) > len(DATA)


@QUICK
@given(pieces(), st.data())
def test_missing_bytes_are_reported_at_their_position(
    parts: list[tuple[int, int]], data: st.DataObject
) -> None:
    kept = [part for part in parts if data.draw(st.booleans())]
    stream = Reassembly(LIMITS)
    stream.begin(5)
    chunks: list[Chunk] = []
    for start, end in kept:
        chunks += stream.feed(5 + start, DATA[start:end], 0, 1)
    chunks += stream.finish(1)
    seen = bytearray(b"?" * max((end for _, end in kept), default=0))
    for start, end in kept:
        seen[start:end] = DATA[start:end]
    assert joined(chunks) == bytes(seen)


def test_first_received_bytes_win_over_differing_copies() -> None:
    stream = Reassembly(LIMITS)
    stream.begin(0)
    chunks = stream.feed(2, b"cd", 0, 1)
    chunks += stream.feed(0, b"AXXXE", 0, 1)
    assert joined(chunks) == b"AXcdE"


def test_acknowledged_gap_is_skipped_after_packet_limit() -> None:
    stream = Reassembly(LIMITS)
    stream.begin(0)
    assert stream.feed(10, b"later", 0, 1) == []
    stream.confirm(15)
    chunks: list[Chunk] = []
    for passed in range(LIMITS.acknowledged_patience):
        assert chunks == [], f"given up after {passed} packets"
        chunks = stream.packet_passed(2)
    assert chunks == [Chunk(2, b"", 10), Chunk(1, b"later")]


def test_unacknowledged_gap_is_skipped_after_longer_limit() -> None:
    stream = Reassembly(LIMITS)
    stream.begin(0)
    stream.feed(10, b"later", 0, 1)
    waited = sum(1 for _ in range(LIMITS.patience - 1) if not stream.packet_passed(2))
    assert waited == LIMITS.patience - 1
    assert stream.packet_passed(2) == [Chunk(2, b"", 10), Chunk(1, b"later")]


def test_acknowledgement_beyond_window_is_ignored() -> None:
    stream = Reassembly(LIMITS)
    stream.begin(0)
    stream.confirm(2**31 - 1)
    assert not stream.blocked
    assert joined(stream.feed(0, b"data", 0, 1)) == b"data"


def test_too_many_bytes_behind_gap_end_wait() -> None:
    stream = Reassembly(CaptureLimits(out_of_order_bytes=100))
    stream.begin(0)
    stream.feed(10, bytes(60), 0, 1)
    assert stream.packet_passed(1) == []
    stream.feed(70, bytes(60), 0, 1)
    assert [chunk.lost for chunk in stream.packet_passed(1)] == [10, 0, 0]


def test_truncated_packet_leaves_gap_of_missing_bytes() -> None:
    stream = Reassembly(LIMITS)
    stream.begin(0)
    assert stream.feed(0, b"begin", 20, 1) == [Chunk(1, b"begin"), Chunk(1, b"", 20)]
    assert stream.feed(25, b"on", 0, 1) == [Chunk(1, b"on")]


@st.composite
def disturbed(draw: st.DrawFn) -> list[TcpSegment]:
    """The segments of a real capture, some later by up to ten places, some twice, some cut."""
    found: list[tuple[float, TcpSegment]] = []
    for place, segment in enumerate(segments(REAL)):
        kind = draw(st.sampled_from(("as is", "late", "twice", "cut", "overlapping")))
        # A SYN or FIN stays: where a connection begins and ends is another question.
        if kind == "as is" or segment.flags & (SYN | FIN) or len(segment.payload) < 4:
            found.append((place, segment))
            continue
        late = place + draw(st.integers(1, 10)) + 0.5
        middle = draw(st.integers(1, len(segment.payload) - 1))
        overlap = draw(st.integers(0, middle)) if kind == "overlapping" else 0
        rest = segment._replace(
            seq=(segment.seq + middle - overlap) % 2**32,
            payload=segment.payload[middle - overlap :],
        )
        first = segment._replace(payload=segment.payload[:middle])
        found += {
            "late": [(late, segment)],
            "twice": [(place, segment), (late, segment)],
            "cut": [(place, first), (place + 0.1, rest)],
            "overlapping": [(place, rest), (late, first)],
        }[kind]
    return [segment for _, segment in sorted(found, key=lambda one: one[0])]


@pytest.mark.rotates(8)
@settings(QUICK, max_examples=25)
@given(disturbed())
def test_disturbed_capture_gives_same_messages_as_original(found: list[TcpSegment]) -> None:
    events, follower = follow(found)
    expected, _ = follow(segments(REAL))
    assert by_connection(events) == by_connection(expected)
    totals = follower.totals
    assert totals.lost_bytes == totals.skipped_bytes == totals.unmatched == 0
    paired = {m.correlation_id for m in messages(events) if m.request is not None}
    assert paired == {m.correlation_id for m in messages(expected) if m.request is not None}
