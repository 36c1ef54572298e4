"""A capture that begins anywhere, or lacks a packet: the frames after it are found again."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.capture.events import REQUEST, Captured, Notice
from harness.capture.segment import SYN, TcpSegment
from labs.captures.recorded import (
    SMALL,
    Told,
    follow,
    messages,
    port_of,
    segments,
    told,
)
from tests.capture.made import without_syn

pytestmark = pytest.mark.rotates(8)

FILES = pytest.mark.parametrize("file", SMALL, ids=lambda file: file.name)


@cache
def longest(file: Path) -> tuple[TcpSegment, ...]:
    """The connection with the most packets."""
    sides: dict[frozenset[object], list[TcpSegment]] = {}
    for segment in segments(file):
        sides.setdefault(frozenset((segment.source, segment.destination)), []).append(segment)
    most = max(sides.values(), key=len)
    return tuple(most)


def expected_from(whole: list[Captured], requests_from: int, responses_from: int) -> list[Told]:
    """Return the frames of a connection that begin at or after a position of their stream."""
    places = {True: 0, False: 0}
    found = []
    for event in whole:
        begin = places[event.direction == REQUEST]
        places[event.direction == REQUEST] += event.length + 4
        if begin >= (requests_from if event.direction == REQUEST else responses_from):
            found.append(told(event))
    return found


def suffix(captured: tuple[TcpSegment, ...], at: int, offset: int) -> list[TcpSegment]:
    """Return the rest of a capture, from byte ``offset`` of the payload of packet ``at`` on."""
    first = captured[at]
    begun = first._replace(
        seq=(first.seq + offset) % 2**32, payload=first.payload[offset:], flags=first.flags & ~SYN
    )
    return [begun, *captured[at + 1 :]]


def bytes_before(captured: tuple[TcpSegment, ...], at: int, offset: int) -> dict[bool, int]:
    """The number of bytes of requests (True) and of responses before the suffix."""
    client = captured[0].source
    found = {True: 0, False: 0}
    for segment in captured[:at]:
        found[segment.source == client] += len(segment.payload)
    found[captured[at].source == client] += offset
    return found


def numbers_of(found: list[Told], *, requests: bool) -> list[Told]:
    return [one for one in found if one[0] == requests]


@pytest.mark.sample(4)
@FILES
@pytest.mark.parametrize("with_port", [True, False], ids=["port", "no-port"])
def test_capture_from_any_byte_yields_all_later_whole_frames(file: Path, with_port: bool) -> None:
    captured = longest(file)
    ports = [port_of(file)] if with_port else []
    whole = messages(follow(captured)[0])
    tried = ghosts = 0
    for at, segment in enumerate(captured):
        for offset in range(0, len(segment.payload), 1):
            events, _ = follow(suffix(captured, at, offset), *ports)
            before = bytes_before(captured, at, offset)
            expected = expected_from(whole, before[True], before[False])
            found = [told(m) for m in messages(events) if not m.cut]
            tried += 1
            expected_requests = numbers_of(expected, requests=True)
            if not with_port and not expected_requests:
                assert found == []  # no request identifies it as Kafka
                continue
            assert numbers_of(found, requests=True) == expected_requests, (at, offset)
            # A response to a request from before is known by its number only.
            sizes = [(one[3], one[5]) for one in numbers_of(expected, requests=False)]
            seen = [(one[3], one[5]) for one in numbers_of(found, requests=False)]
            if seen[-len(sizes) :] != sizes and sizes:
                raise AssertionError((at, offset, seen, sizes))
            ghosts += len(seen) - len(sizes)
    assert tried > 1000
    assert ghosts <= tried // 100, f"{ghosts} of {tried}"


def known(one: Told) -> tuple[object, ...]:
    """Return the parts of a frame that are known also for a response without its request."""
    return (one[0], one[3], one[5], one[6])


def frames_beside(captured: tuple[TcpSegment, ...], whole: list[Captured], at: int) -> list[Told]:
    """Return the frames of a connection that have no byte in packet ``at``."""
    lost = captured[at]
    place = bytes_before(captured, at, 0)[lost.source == captured[0].source]
    is_request = lost.source == captured[0].source
    ends = {True: 0, False: 0}
    found = []
    for event in whole:
        of_requests = event.direction == REQUEST
        begin = ends[of_requests]
        ends[of_requests] = end = begin + event.length + 4
        if of_requests != is_request or end <= place or begin >= place + len(lost.payload):
            found.append(told(event))
    return found


@FILES
def test_missing_packet_loses_only_frames_it_carried(file: Path) -> None:
    """All frames outside the packet are found, and no others; the notices count the lost bytes."""
    captured = longest(file)
    whole = messages(follow(captured)[0])
    for at, segment in enumerate(captured):
        if not segment.payload:
            continue
        events, _ = follow([*captured[:at], *captured[at + 1 :]])
        lost = sum(e.count for e in events if isinstance(e, Notice) and e.kind == "lost")
        assert lost == len(segment.payload), at
        found = [known(told(m)) for m in messages(events) if not m.cut]
        expected = [known(one) for one in frames_beside(captured, whole, at)]
        assert sorted(found, key=repr) == sorted(expected, key=repr), at


@FILES
def test_capture_without_syn_yields_all_messages(file: Path) -> None:
    whole, _ = follow(segments(file))
    events, follower = follow(without_syn(segments(file)))
    assert sorted(map(str, map(told, messages(events)))) == sorted(
        map(str, map(told, messages(whole)))
    )
    assert follower.totals.skipped_bytes == follower.totals.unmatched == 0
