"""The ways in which messages can lie in bytes: alone, behind a header, behind their lengths."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from harness.codec.errors import FrameError
from harness.codec.frame import LENGTH_BYTES

_LENGTH = struct.Struct(">i")


class Spans(NamedTuple):
    """Where messages begin and end; ``problem``: the reason for what is behind the last one."""

    places: list[tuple[int, int]]
    problem: FrameError | None = None


class Framing(NamedTuple):
    """``with_header``: a header precedes each body. ``has_lengths``: a length precedes both.

    ``split`` returns None for bytes that cannot lie so.
    """

    said: str
    with_header: bool
    has_lengths: bool
    split: Callable[[bytes], Spans | None]

    def text(self, count: int) -> str:
        """Return the framing for people, with the number of messages."""
        if not self.has_lengths:
            return self.said
        return f"1 frame {self.said}" if count == 1 else f"{count} frames {self.said}"


def _whole(data: bytes) -> Spans:
    return Spans([(0, len(data))])


def _frames(data: bytes) -> Spans | None:
    """Return the payloads; the last one may be cut, which is the problem then."""
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(data):
        left = len(data) - at - LENGTH_BYTES
        length = _LENGTH.unpack_from(data, at)[0] if left >= 0 else -1
        if length < 0:
            what = f"{len(data) - at} bytes at byte {at} are no frame with its length"
            return Spans(places, FrameError(what)) if places else None
        if length > left:
            what = f"the frame at byte {at} has the length {length}, and {left} bytes follow"
            return Spans([*places, (at + LENGTH_BYTES, len(data))], FrameError(what))
        places.append((at + LENGTH_BYTES, at + LENGTH_BYTES + length))
        at += LENGTH_BYTES + length
    return Spans(places) if places else None


BODY = Framing("one body without header", False, False, _whole)
HEADER_AND_BODY = Framing("header and body without a length", True, False, _whole)
FRAMES = Framing("with length and header", True, True, _frames)
ALONE = Framing("one message", False, False, _whole)
RECORDS = Framing("record batches", False, False, _whole)
RECORDS_BEHIND_LENGTH = Framing("with length, of record batches", False, True, _frames)
