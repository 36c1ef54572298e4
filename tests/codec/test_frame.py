"""Frames out of bytes that arrive in any pieces."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import FrameError
from harness.codec.frame import FrameSplitter, frame
from labs.message_values.values import QUICK

LIMIT = 50
CUTS = st.lists(st.integers(0, 400), max_size=8)
PAYLOADS = st.lists(st.binary(max_size=LIMIT), max_size=6)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    """The stream in order, cut at the given places."""
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in pairwise(edges)]


@settings(QUICK, max_examples=100)
@given(
    payloads=PAYLOADS, cuts=st.lists(st.integers(0, 400), max_size=8), rest=st.binary(max_size=3)
)
def test_splitter_returns_same_payloads_for_any_chunking(
    payloads: list[bytes], cuts: list[int], rest: bytes
) -> None:
    splitter = FrameSplitter(LIMIT)
    stream = b"".join(map(frame, payloads)) + rest
    assert [p for piece in pieces(stream, cuts) for p in splitter.feed(piece)] == payloads
    assert splitter.rest() == rest
    assert splitter.pending_bytes == len(rest)
    assert splitter.broken is None


@settings(QUICK, max_examples=100)
@given(
    payloads=PAYLOADS,
    length=st.integers(-(2**31), -1) | st.integers(LIMIT + 1, 2**31 - 1),
    cuts=CUTS,
)
def test_splitter_returns_payloads_before_bad_length(
    payloads: list[bytes], length: int, cuts: list[int]
) -> None:
    splitter, found = FrameSplitter(LIMIT), []
    bad = struct.pack(">i", length)
    for piece in pieces(b"".join(map(frame, payloads)) + bad, cuts):
        if splitter.broken:
            assert piece == b""
        else:
            try:
                found += splitter.feed(piece)
            except FrameError:
                assert splitter.broken
    assert found == payloads
    assert splitter.rest() == bad
    with pytest.raises(FrameError, match=rf"frame length {length} is not in 0 \.\. {LIMIT}"):
        splitter.feed(b"")


def test_splitter_accepts_frame_of_limit_size() -> None:
    assert FrameSplitter(LIMIT).feed(frame(b"x" * LIMIT)) == [b"x" * LIMIT]
    assert FrameSplitter(0).feed(frame(b"")) == [b""]


def test_splitter_is_broken_after_bad_length_behind_payload() -> None:
    splitter = FrameSplitter(LIMIT)
    assert splitter.feed(frame(b"good") + b"\xff\xff\xff\xff" + b"junk") == [b"good"]
    assert splitter.broken is not None
    assert splitter.rest() == b"\xff\xff\xff\xffjunk"
