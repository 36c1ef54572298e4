"""The finder alone: nothing is lost, changed or held too long."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.proxies import frames
from harness.proxies.frames import FrameFinder

HEAD_BYTES = 8
LONGEST = 1000
FRAMES = st.binary(max_size=300).map(lambda payload: struct.pack(">i", len(payload)) + payload)
STREAMS = st.lists(FRAMES, max_size=8).map(b"".join)
ANY = st.lists(FRAMES | st.binary(max_size=30), max_size=8).map(b"".join)
CUTS = st.lists(st.floats(0, 1), max_size=10)


class Noting:
    """Want the frames with an ordinal in ``wanted``, and record all calls."""

    def __init__(self, wanted: set[int], budget: int = 10**9) -> None:
        self.finder: FrameFinder[int] = FrameFinder(self, HEAD_BYTES, LONGEST)
        self.wanted, self.budget = wanted, budget
        self.count = 0
        self.out = bytearray()
        self.payloads: list[tuple[int, bytes]] = []
        self.given_up: list[int] = []
        self.boundaries: list[int] = []
        self.bad: list[int] = []

    def begins(self, data: bytes, at: int, length: int) -> int | None:
        assert len(data) - at >= min(length, HEAD_BYTES)
        self.count += 1
        return self.count - 1 if self.count - 1 in self.wanted else None

    def found(self, claim: int, payload: bytes, pieces: Sequence[bytes]) -> None:
        self.payloads.append((claim, payload))
        assert b"".join(pieces)[4:] == payload
        self.out += b"".join(pieces)

    def passes(self, data: bytes) -> None:
        assert data
        self.out += data

    def lost(self, length: int, rest: bytes) -> None:
        self.bad.append(length)
        self.passes(rest)

    def collects(self, held_bytes: int) -> bool:
        return held_bytes <= self.budget

    def unread(self, claim: int, data: bytes) -> None:
        self.given_up.append(claim)

    def between(self) -> None:
        self.boundaries.append(len(self.out))


def pieces(stream: bytes, cuts: list[float]) -> list[bytes]:
    edges = [0, *sorted(int(cut * len(stream)) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges) if stop > start]


def split(stream: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(stream):
        (length,) = struct.unpack_from(">i", stream, at)
        found.append(stream[at + 4 : at + 4 + length])
        at += 4 + length
    return found


@pytest.mark.rotates(8)
@settings(max_examples=300)
@given(
    stream=ANY,
    cuts=CUTS,
    wanted=st.sets(st.integers(0, 8)),
    a_turn=st.integers(1, 3),
    turns=st.integers(0, 2),
    limit=st.sampled_from(["FRAMES_A_TURN", "FOUND_A_TURN"]),
    interrupt=st.booleans(),
)
@example(
    stream=struct.pack(">i4xi", 4, 9) + b"head", cuts=[], wanted=set(), a_turn=1, turns=1,
    limit="FRAMES_A_TURN", interrupt=False,
)  # fmt: skip
def test_finder_over_several_turns_gives_same_result(
    stream: bytes,
    cuts: list[float],
    wanted: set[int],
    a_turn: int,
    turns: int,
    limit: str,
    interrupt: bool,
) -> None:
    """``turns`` of the loop between two reads: the last ones may find the finder still behind."""
    at_once, by_turns = Noting(wanted), Noting(wanted)
    for each in (at_once, by_turns):
        each.finder.interrupt = interrupt
    for piece in pieces(stream, cuts):
        at_once.finder.feed(piece)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, limit, a_turn)
        for piece in pieces(stream, cuts):
            by_turns.finder.feed(piece)
            for _ in range(turns):
                if by_turns.finder.is_behind:
                    by_turns.finder.go_on()
        by_turns.finder.catch_up()
    assert by_turns.finder.is_inside is at_once.finder.is_inside
    for each in (at_once, by_turns):
        each.finder.end()
    for what in ("count", "out", "payloads", "given_up", "bad"):
        assert getattr(by_turns, what) == getattr(at_once, what), what
    assert set(by_turns.boundaries) >= set(at_once.boundaries)


@settings(max_examples=300)
@given(stream=STREAMS, cuts=CUTS, wanted=st.sets(st.integers(0, 8)))
def test_finder_returns_wanted_frames_and_passes_all_bytes_in_order(
    stream: bytes, cuts: list[float], wanted: set[int]
) -> None:
    noting = Noting(wanted)
    for piece in pieces(stream, cuts):
        noting.finder.feed(piece)
    payloads = split(stream)
    assert bytes(noting.out) == stream
    assert noting.payloads == [(n, one) for n, one in enumerate(payloads) if n in wanted]
    assert noting.count == len(payloads)
    assert noting.finder.pending_bytes == 0
    assert noting.finder.is_between


@pytest.mark.rotates(8)
@settings(max_examples=300)
@given(stream=ANY, cuts=CUTS, wanted=st.sets(st.integers(0, 8)), budget=st.integers(0, 200))
def test_finder_passes_any_bytes_and_holds_at_most_its_budget(
    stream: bytes, cuts: list[float], wanted: set[int], budget: int
) -> None:
    noting = Noting(wanted, budget)
    for piece in pieces(stream, cuts):
        noting.finder.feed(piece)
        assert noting.finder.pending_bytes <= max(budget, HEAD_BYTES + 4)
    noting.finder.end()
    assert bytes(noting.out) == stream
    assert noting.finder.pending_bytes == 0


@settings(max_examples=200)
@given(stream=STREAMS, cuts=CUTS, wanted=st.sets(st.integers(0, 8)))
def test_finder_reports_boundaries_at_frame_ends(
    stream: bytes, cuts: list[float], wanted: set[int]
) -> None:
    noting = Noting(wanted)
    noting.finder.interrupt = True
    for piece in pieces(stream, cuts):
        noting.finder.feed(piece)
    ends = [0]
    for payload in split(stream):
        ends.append(ends[-1] + 4 + len(payload))
    assert set(noting.boundaries) <= set(ends)
    assert not stream or set(noting.boundaries) >= set(ends[1:])


def test_unwanted_frame_passes_before_it_is_complete() -> None:
    noting = Noting(set())
    noting.finder.feed(b"\0\0\1\0" + bytes(7))
    assert noting.out == b""  # its head is not whole
    noting.finder.feed(bytes(1))
    assert len(noting.out) == 12
    assert not noting.finder.is_between


@pytest.mark.parametrize("length", [-1, -(2**31), LONGEST + 1, 2**31 - 1])
def test_invalid_length_is_reported_once_and_rest_passes(length: int) -> None:
    noting = Noting(set(range(9)))
    bad = struct.pack(">i", length)
    noting.finder.feed(b"\0\0\0\1x" + bad[:2])
    noting.finder.feed(bad[2:] + b"junk")
    noting.finder.feed(bad)
    assert (noting.payloads, noting.bad) == ([(0, b"x")], [length])
    assert bytes(noting.out) == b"\0\0\0\1x" + bad + b"junk" + bad
    assert noting.finder.is_lost


def test_piece_that_passes_whole_is_not_copied() -> None:
    seen: list[bytes] = []
    noting = Noting(set())
    noting.passes = seen.append  # type: ignore[method-assign,assignment]
    data = b"\0\0\0\x10" + bytes(16)
    noting.finder.feed(data)
    assert seen[0] is data
