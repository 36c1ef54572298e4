"""The last part of a direction: toxics, then the socket it leads to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from harness.proxies.counters import Traffic
from harness.proxies.toxics.chain import Chain, ToxicChange
from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.toxic import NEVER_MS, Piece, StreamMarker


class MarkReceiver(Protocol):
    """The side that acts on a mark when it comes out of the toxics."""

    def reached_end(self) -> None: ...

    def reached_close(self) -> None: ...

    def reached_reset(self) -> None: ...


class ProxyStream:
    """Pieces in, bytes to a transport in order.

    It holds what toxics hold, and all pieces while it is cut.
    """

    def __init__(
        self,
        marks: MarkReceiver,
        new_chain: Callable[[], Chain | None],
        now_ms: Callable[[], float],
        traffic: Traffic,
    ) -> None:
        """``traffic``: counts the bytes that are given to the transport."""
        self._marks, self._new_chain, self._now_ms = marks, new_chain, now_ms
        self._traffic = traffic
        self.changed: Callable[[], None] = lambda: None  # less may be held, or it is free again
        self.transport: asyncio.Transport | None = None
        self.chain: Chain | None = None
        self.is_cut = False
        self.is_over = False  # nothing more can go on: ended, closed or lost
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        """True if pieces may be forwarded."""
        return self.transport is not None and not self.is_cut and not self.is_over

    @property
    def straight(self) -> Callable[[bytes], None] | None:
        """The function that writes bytes with nothing in between; None while there is something."""
        if self.transport is None or not self.is_open or self.chain is not None:
            return None
        return self._write

    @property
    def held_bytes(self) -> int:
        """The memory that toxics hold, about: a piece costs more than its bytes."""
        return self.chain.held_cost_bytes if self.chain else 0

    def forward(self, piece: Piece) -> None:
        """Forward a piece; only while it is open."""
        if self.chain is None:
            self._emit(piece)
        else:
            self.chain.push(piece, self._now_ms())
            self.turn()

    def toxic_changed(self, change: ToxicChange, named: NamedToxic) -> None:
        """A toxic of this direction was added, changed or removed."""
        if self.is_over:
            return
        if self.chain is None:
            self.chain = self._new_chain()
        else:
            self.chain.apply(change, named, self._now_ms())
        self.turn()

    def turn(self) -> None:
        """Write the pieces that are due, and set a timer for the next."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        chain = self.chain
        if chain is None or not self.is_open:
            return
        for piece in chain.advance(self._now_ms()):
            self._emit(piece)
        if self.is_over:
            return
        due_ms = chain.next_due_ms
        if chain.is_idle:
            self.chain = None
        elif due_ms != NEVER_MS:
            delay_s = max(0.0, due_ms - self._now_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay_s, self.turn)
        self.changed()

    def finish(self) -> None:
        """End this direction; what is held is discarded."""
        self.is_over = True
        self.chain = None
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _write(self, data: bytes) -> None:
        self._traffic.sent_bytes += len(data)
        self.transport.write(data)  # type: ignore[union-attr]  # who asks for it knows

    def _emit(self, piece: Piece) -> None:
        if self.is_over:
            return
        if isinstance(piece, bytes):
            assert self.transport is not None
            if not self.transport.is_closing():  # lost, which the loop reports on its next turn
                self._write(piece)
        elif piece is StreamMarker.END:
            self.finish()
            self._marks.reached_end()
        elif piece is StreamMarker.CLOSE:
            self.finish()
            self._marks.reached_close()
        else:
            self.finish()
            self._marks.reached_reset()
