"""The frames in a stream, found while they pass.

    bytes -> [ unwanted frame: passes at once ][ wanted frame: collected, found whole ] ...

Pure: bytes in, calls out, in the order of the stream. A piece that passes whole, which is the usual
case, is not copied. At most one unfinished frame is held, and only a wanted one; of other frames
only a head that is not complete yet.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import inf
from typing import Generic, Protocol, TypeVar

from harness.codec.frame import LENGTH_BYTES

Claim = TypeVar("Claim")
Pieces = Sequence[bytes]
LONGEST = 0x7FFF_FFFF
FRAMES_A_TURN = 8192  # a loop has other connections, timers and a stop to see to
FOUND_A_TURN = 1024  # of these, because each costs about ten times what one costs that passes
SMALL_BYTES = 4096  # pieces below are put together, for each costs more than its bytes
_LENGTH = struct.Struct(">i")


class FrameReceiver(Protocol[Claim]):
    """The receiver of frames and of the bytes between them."""

    def begins(self, data: bytes, at: int, length: int) -> Claim | None:
        """Return a claim for the frame with this payload: ``length`` bytes from ``data[at]``.

        None: the frame passes. At least the head of the payload is there. ``found`` gets the claim
        with the whole frame.
        """

    def found(self, claim: Claim, payload: bytes, pieces: Pieces) -> None:
        """Take a wanted frame; ``pieces`` are its bytes as they came, its length in front."""

    def passes(self, data: bytes) -> None:
        """Take bytes that are not part of a wanted frame."""

    def lost(self, length: int, rest: bytes) -> None:
        """Note an impossible length at the start of ``rest``; all that follows passes."""

    def collects(self, held_bytes: int) -> bool:
        """Note that so much of a wanted frame is held, 0: no more; False gives the frame up."""

    def unread(self, claim: Claim, data: bytes) -> None:
        """Note that a frame is given up and passes next; ``data``: the bytes of it so far."""

    def between(self) -> None:
        """Note a boundary between frames, called if ``interrupt`` is set; all before it went on."""


class FrameFinder(Generic[Claim]):
    """The frames of one direction; ``begins`` is called once ``head_bytes`` of a payload came."""

    __slots__ = (
        "_claim",
        "_head",
        "_head_bytes",
        "_held_bytes",
        "_left",
        "_longest",
        "_missing",
        "_pieces",
        "_small",
        "_watch",
        "interrupt",
        "is_behind",
        "is_stopped",
    )

    def __init__(
        self, watch: FrameReceiver[Claim], head_bytes: int, longest: int = LONGEST
    ) -> None:
        self._watch, self._head_bytes, self._longest = watch, head_bytes, longest
        self.interrupt = False  # call ``between`` at every boundary
        self.is_behind = False  # more frames came than are walked at once: ``go_on`` walks others
        self.is_stopped = False  # frames that are not walked yet go nowhere; any thread may set it
        self._left: float = 0  # bytes to come of a frame that passes; inf: framing is lost
        self._head = b""  # the beginning of a frame, too little to ask about it
        self._claim: Claim | None = None  # of the frame that is being collected
        self._pieces: list[bytes] = []
        self._small = bytearray()  # behind the pieces
        self._held_bytes = 0  # in both
        self._missing = 0  # bytes to come of it

    @property
    def pending_bytes(self) -> int:
        """Bytes that wait here for more."""
        return len(self._head) + self._held_bytes

    @property
    def is_inside(self) -> bool:
        """True if the stream would end within a frame if it ended here."""
        return bool(self.pending_bytes) or self._left not in (0, inf)

    @property
    def is_between(self) -> bool:
        """True if other bytes may go on now: no frame is passing in part or held."""
        return self._left in (0, inf) and self._claim is None

    @property
    def is_lost(self) -> bool:
        return self._left == inf

    def feed(self, data: bytes) -> None:
        """The next bytes of the stream."""
        left = self._left
        if len(data) <= left:
            self._left = left - len(data)
            self._watch.passes(data)
            if self.interrupt and not self._left:
                self._watch.between()
        elif self._claim is not None:
            self._collect(data)
        elif self._head:
            data, self._head = self._head + data, b""
            self._walk(data, 0, 0)
        elif left or not self._is_one_frame(data):
            self._left = 0
            self._walk(data, 0, int(left))
        else:  # most frames come alone
            claim = self._watch.begins(data, LENGTH_BYTES, len(data) - LENGTH_BYTES)
            if claim is None:
                self._watch.passes(data)
            else:
                self._watch.found(claim, data[LENGTH_BYTES:], (data,))
            if self.interrupt:
                self._watch.between()

    def go_on(self) -> None:
        """Walk the next frames of what came already."""
        data, self._head = self._head, b""
        self._walk(data, 0, 0)

    def catch_up(self) -> None:
        """Walk all that came already."""
        while self.is_behind:
            self.go_on()

    def _is_one_frame(self, data: bytes) -> bool:
        length = len(data) - LENGTH_BYTES
        if self.interrupt or not self._head_bytes <= length <= self._longest:
            return False
        return data.startswith(length.to_bytes(LENGTH_BYTES, "big"))

    def end(self) -> None:
        """Pass the held bytes: the stream has ended."""
        self.catch_up()
        rest = [*self._collected(), self._head]
        self._head = b""
        self._forget()
        self._left = inf
        for piece in filter(None, rest):
            self._watch.passes(piece)

    def _collect(self, data: bytes) -> None:
        missing, claim = self._missing, self._claim
        assert claim is not None
        if len(data) < missing:
            self._missing -= len(data)
            self._hold(claim, data)
            return
        pieces = [*self._collected(), data[:missing]]
        self._forget()
        payload = b"".join([memoryview(pieces[0])[LENGTH_BYTES:], *pieces[1:]])
        self._watch.found(claim, payload, pieces)
        self._walk(data, missing, missing)

    def _hold(self, claim: Claim, data: bytes) -> None:
        self._held_bytes += len(data)
        if len(data) < SMALL_BYTES:
            self._small += data
        else:
            self._collected().append(data)
        if not self._watch.collects(self._held_bytes):
            self._give_up(claim)

    def _give_up(self, claim: Claim) -> None:
        pieces, self._left = self._collected(), self._missing
        self._forget()
        self._watch.unread(claim, b"".join(pieces))
        for piece in pieces:
            self._watch.passes(piece)

    def _collected(self) -> list[bytes]:
        if self._small:
            self._pieces.append(bytes(self._small))
            self._small.clear()
        return self._pieces

    def _forget(self) -> None:
        self._claim, self._missing, self._pieces, self._held_bytes = None, 0, [], 0
        self._watch.collects(0)

    def _walk(self, data: bytes, start: int, at: int) -> None:
        """Walk frames from ``data[at]``; what is before ``data[start]`` went on already."""
        size, begins, to_find = len(data), self._watch.begins, FOUND_A_TURN
        self.is_behind = False
        for _ in range(FRAMES_A_TURN):
            if size - at < LENGTH_BYTES or self.is_stopped:
                break
            if self.interrupt:
                self._pass(data, start, at)
                start = at
                self._watch.between()
            (length,) = _LENGTH.unpack_from(data, at)
            if not 0 <= length <= self._longest:
                self._pass(data, start, at)
                self._left = inf
                self._watch.lost(length, data[at:])
                return
            payload = at + LENGTH_BYTES
            stop = payload + length
            if size - payload < self._head_bytes and size < stop:
                break
            claim = begins(data, payload, length)
            if claim is None:
                at = stop
                continue
            self._pass(data, start, at)
            if stop > size:
                self._claim, self._missing = claim, stop - size
                self._hold(claim, data[at:])
                return
            self._watch.found(claim, data[payload:stop], (data[at:stop],))
            at = start = stop
            to_find -= 1
            if not to_find:
                self.is_behind = at < size
                break
        else:
            self.is_behind = at < size
        self._leave(data, start, at)

    def _leave(self, data: bytes, start: int, at: int) -> None:
        """Keep the bytes from ``data[at]``, which were not walked, and pass those before."""
        size = len(data)
        if at < size:
            self._head = data[at:]
            self._left = 0
            self._pass(data, start, at)
        else:
            self._left = at - size
            if start < size:
                self._watch.passes(data[start:])
        if self.interrupt and not self._left:
            self._watch.between()

    def _pass(self, data: bytes, start: int, stop: int) -> None:
        if start < stop:
            self._watch.passes(data[start:stop])
