"""One direction's bytes cut into frames: also from the middle, also after a gap.

A frame is a length of four bytes and that many more. While the reader is in step, the length alone
is believed. Out of step it asks a search, which knows what frames of this direction look like.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from harness.capture.limits import CaptureLimits

LENGTH_BYTES = 4
HEAD_BYTES = 4096  # what is kept of a frame that is too long or damaged
_LENGTH = struct.Struct(">i")

CUT_LONG, CUT_GAP, CUT_END = "longer than is kept", "bytes lost in it", "the capture ends in it"
CUT_CLOSED = "the connection ends in it"


class Search(Protocol):
    """Knows what the frames of one direction look like."""

    def find(self, buffer: bytearray, starts: Sequence[int], *, last: bool) -> int | None:
        """Return the position where a frame begins, or None as yet.

        ``starts``: where packets began. ``last``: nothing will follow. The buffer only grows at its
        end from call to call, until ``forget``.
        """

    def forget(self) -> None:
        """Begin anew: the next buffer is another one."""


@dataclass(frozen=True, slots=True)
class Frame:
    """``payload`` is whole, unless ``cut`` says why it is only the beginning of ``length``."""

    time_ns: int
    payload: bytes
    length: int
    cut: str = ""  # one of CUT_...


class Passed(NamedTuple):
    """Bytes that belong to no frame: ``lost`` were not captured, ``skipped`` not understood."""

    time_ns: int
    lost: int
    skipped: int


class FrameReader:
    """Feed chunks, take frames; at most ``Limits.frame_bytes`` and a chunk are held."""

    def __init__(self, search: Search, limits: CaptureLimits, *, in_step: bool) -> None:
        """``in_step``: the first byte begins a frame."""
        self._search, self._limits = search, limits
        self._in_step = in_step
        self._buffer = bytearray()
        self._times: deque[tuple[int, int]] = deque()  # (how far the bytes reached, when)
        self._taken = 0  # bytes that have left the buffer, since the beginning
        self._cut: Frame | None = None  # its rest, so many bytes, is passed over
        self._rest = 0

    @property
    def held_bytes(self) -> int:
        """Bytes that wait for their frame to be complete."""
        return len(self._buffer)

    def feed(self, data: bytes, time_ns: int) -> list[Frame | Passed]:
        """Return the frames that these bytes complete, and the bytes between them."""
        found: list[Frame | Passed] = []
        if self._cut is not None:
            data = self._pass_rest(data, time_ns, found)
        if data:
            self._buffer += data
            self._times.append((self._taken + len(self._buffer), time_ns))
            self._read(found)
        return found

    def gap(self, lost: int, time_ns: int) -> list[Frame | Passed]:
        """Note that ``lost`` bytes are missing here.

        A frame that goes on behind them keeps the reader in step.
        """
        if self._cut is None and self._in_step and len(self._buffer) >= LENGTH_BYTES:
            self._begin_cut(CUT_GAP)
        if self._cut is None:
            skipped = self._drop(len(self._buffer))
            self._lose_step()
            return [Passed(time_ns, lost, skipped)]
        self._cut = replace(self._cut, time_ns=time_ns, cut=CUT_GAP)
        found: list[Frame | Passed] = [Passed(time_ns, lost, 0)]
        if lost >= self._rest:
            if lost > self._rest:
                self._lose_step()
            self._end_cut(time_ns, found)
        else:
            self._rest -= lost
        return found

    def finish(self, time_ns: int, *, is_closed: bool) -> list[Frame | Passed]:
        """Return the frames that were found at last, and the bytes left over: no more will come.

        ``is_closed``: the sender ended the connection; else the capture ends.
        """
        found: list[Frame | Passed] = []
        if not self._in_step and self._find(found, last=True):
            self._read(found)
        if self._cut is None and self._in_step and len(self._buffer) >= LENGTH_BYTES:
            self._begin_cut(CUT_CLOSED if is_closed else CUT_END)
        if self._cut is not None:
            self._end_cut(time_ns, found)
        if self._buffer:
            found.append(Passed(time_ns, 0, self._drop(len(self._buffer))))
        return found

    def _read(self, found: list[Frame | Passed]) -> None:
        while self._in_step or self._find(found, last=False):
            if len(self._buffer) < LENGTH_BYTES:
                return
            length = self._length()
            if not 0 <= length <= self._limits.plausible_frame_bytes:
                self._lose_step()
                continue
            end = LENGTH_BYTES + length
            if len(self._buffer) >= end:
                time_ns = self._time_of(end)
                payload = bytes(self._buffer[LENGTH_BYTES:end])
                self._drop(end)
                found.append(Frame(time_ns, payload, length))
            elif length > self._limits.frame_bytes and len(self._buffer) > HEAD_BYTES:
                self._begin_cut(CUT_LONG)
                return
            else:
                return

    def _find(self, found: list[Frame | Passed], *, last: bool) -> bool:
        """Search for a frame; True if the reader has come into step."""
        reached = [0, *(end - self._taken for end, _ in self._times)]
        at = self._search.find(self._buffer, reached[:-1], last=last)
        if at is not None:
            if at:
                found.append(Passed(self._time_of(at), 0, self._drop(at)))
            self._in_step = True
            return True
        if len(self._buffer) > self._limits.search_bytes:
            half = len(self._buffer) // 2
            found.append(Passed(self._time_of(half), 0, self._drop(half)))
            self._search.forget()
        return False

    def _lose_step(self) -> None:
        self._in_step = False
        self._search.forget()

    def _begin_cut(self, why: str) -> None:
        """Keep only the head of the frame at the start of the buffer."""
        length = self._length()
        end = LENGTH_BYTES + length
        head = bytes(self._buffer[LENGTH_BYTES : min(end, LENGTH_BYTES + HEAD_BYTES)])
        self._cut = Frame(self._times[-1][1], head, length, why)
        self._rest = end - len(self._buffer)
        self._drop(len(self._buffer))

    def _pass_rest(self, data: bytes, time_ns: int, found: list[Frame | Passed]) -> bytes:
        passed = min(self._rest, len(data))
        self._rest -= passed
        self._taken += passed
        if not self._rest:
            self._end_cut(time_ns, found)
        return data[passed:]

    def _end_cut(self, time_ns: int, found: list[Frame | Passed]) -> None:
        assert self._cut is not None
        found.append(replace(self._cut, time_ns=time_ns))
        self._cut = None

    def _length(self) -> int:
        length: int = _LENGTH.unpack_from(self._buffer)[0]
        return length

    def _time_of(self, end: int) -> int:
        """Return the time at which the byte before ``end`` was captured."""
        for reached, time_ns in self._times:
            if reached >= self._taken + end:
                return time_ns
        raise AssertionError("a byte of the buffer came without a time")

    def _drop(self, count: int) -> int:
        del self._buffer[:count]
        self._taken += count
        while self._times and self._times[0][0] <= self._taken:
            self._times.popleft()
        return count
