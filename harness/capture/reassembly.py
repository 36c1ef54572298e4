"""One direction of a TCP connection: segments as captured in, bytes in order and gaps out.

Positions count on from the first sequence number without ever wrapping.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from harness.capture.limits import CaptureLimits

_WRAP = 1 << 32
_HALF = 1 << 31
_LARGEST_WINDOW = 1 << 30  # RFC 7323, section 2.3


class Chunk(NamedTuple):
    """The next bytes of the stream, and when they were captured; ``lost`` bytes instead of them."""

    time_ns: int
    data: bytes
    lost: int = 0


class _Piece(NamedTuple):
    start: int
    end: int
    time_ns: int
    data: bytes | None  # None: cut off when it was captured


class Reassembly:
    """One direction; where segments overlap, the bytes that were captured first stay.

    A hole is waited for: a packet may only have been captured late, or be sent again. It is lost
    when the other side has confirmed it and ``Limits.acknowledged_patience`` packets have passed,
    after ``Limits.patience`` packets, or when too much waits behind it.
    """

    def __init__(self, limits: CaptureLimits) -> None:
        self._limits = limits
        self._next: int | None = None
        self._confirmed = 0  # up to where the other side has it
        self._end: int | None = None  # the end of the stream, once there was a FIN
        self._waiting: list[_Piece] = []  # in order, without overlaps, all behind a hole
        self._waiting_bytes = 0
        self._patience = 0
        self.repeated_bytes = 0

    @property
    def begun(self) -> bool:
        """True if the beginning of the stream is known."""
        return self._next is not None

    @property
    def blocked(self) -> bool:
        """True if bytes are known to exist that have not been seen."""
        return bool(self._waiting) or (self._next is not None and self._confirmed > self._next)

    def begin(self, seq: int) -> None:
        """Set the sequence number of the first byte; the first call counts."""
        if self._next is None:
            self._next = self._confirmed = seq

    def finish_at(self, seq: int) -> None:
        """Note a FIN at this sequence number: it is one more to confirm, but no byte."""
        if self._next is not None:
            self._end = self._position(seq)
            self._confirmed = min(self._confirmed, self._end)

    def confirm(self, ack: int) -> None:
        """Note that the other side has everything before ``ack``."""
        if self._next is not None:
            position = self._position(ack)
            if self._end is not None:
                position = min(position, self._end)
            if position - self._next <= _LARGEST_WINDOW:  # more cannot be under way: nonsense
                self._confirmed = max(self._confirmed, position)

    def feed(self, seq: int, payload: bytes, missing: int, time_ns: int) -> list[Chunk]:
        """Return what the payload of one segment completes; ``missing``: as in ``Segment``."""
        self.begin(seq)
        start = self._position(seq)
        middle = start + len(payload)
        if payload:
            self._insert(_Piece(start, middle, time_ns, payload))
        if missing:
            self._insert(_Piece(middle, middle + missing, time_ns, None))
        return self._take()

    def packet_passed(self, time_ns: int) -> list[Chunk]:
        """Count a packet of the connection: the wait for a hole ends when its time is up."""
        if not self.blocked:
            self._patience = 0
            return []
        self._patience += 1
        return self._give_up(time_ns) if self._hopeless() else []

    def finish(self, time_ns: int) -> list[Chunk]:
        """Return all that waits, with its holes: nothing more will come."""
        chunks: list[Chunk] = []
        while self._waiting:
            chunks += self._give_up(time_ns)
        # A single byte that was confirmed and never seen is a FIN that was not captured.
        if self._next is not None and self._confirmed > self._next + 1:
            chunks += self._give_up(time_ns)
        self._confirmed = 0
        return chunks

    def _position(self, seq: int) -> int:
        assert self._next is not None
        return self._next + (seq - self._next + _HALF) % _WRAP - _HALF

    def _insert(self, piece: _Piece) -> None:
        assert self._next is not None
        start, end, time_ns, data = piece
        if start < self._next:
            self.repeated_bytes += min(end, self._next) - start
            start = self._next
        at = bisect_right(self._waiting, start, key=lambda other: other.start)
        if at and self._waiting[at - 1].end > start:
            start = self._waiting[at - 1].end
        while start < end:
            following = self._waiting[at] if at < len(self._waiting) else None
            stop = min(end, following.start) if following else end
            if stop > start:
                part = None if data is None else data[start - piece.start : stop - piece.start]
                self._waiting.insert(at, _Piece(start, stop, time_ns, part))
                self._waiting_bytes += len(part or b"")
                at += 1
            if following is None:
                return
            start = following.end
            at += 1

    def _take(self) -> list[Chunk]:
        """Take the waiting pieces that are next."""
        chunks: list[Chunk] = []
        taken = 0
        for piece in self._waiting:
            if piece.start != self._next:
                break
            lost = piece.end - piece.start if piece.data is None else 0
            chunks.append(Chunk(piece.time_ns, piece.data or b"", lost))
            self._waiting_bytes -= len(piece.data or b"")
            self._next = piece.end
            taken += 1
        del self._waiting[:taken]
        if taken:
            self._patience = 0
        return chunks

    def _hopeless(self) -> bool:
        assert self._next is not None
        if self._waiting_bytes > self._limits.out_of_order_bytes:
            return True
        if self._confirmed > self._next and self._patience >= self._limits.acknowledged_patience:
            return True
        return self._patience >= self._limits.patience

    def _give_up(self, time_ns: int) -> list[Chunk]:
        """Count the hole as lost; the pieces behind it are next."""
        assert self._next is not None
        end = self._waiting[0].start if self._waiting else self._confirmed
        hole = Chunk(time_ns, b"", end - self._next)
        self._next = end
        return [hole, *self._take()]
