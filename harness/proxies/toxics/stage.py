"""One toxic in one chain: the pieces that wait before it, and the next that is due."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, Piece


class ToxicStage:
    """The pieces as they came; the toxic turns each into due pieces when its turn has come.

    ``struck`` is called when the toxic does something to this stream for the first time.
    """

    __slots__ = (
        "_arrived_ms",
        "_current",
        "_current_bytes",
        "_head",
        "_inputs",
        "_inputs_bytes",
        "_last_ms",
        "_rest",
        "_struck",
        "_touched",
        "began_ms",
        "named",
        "state",
    )

    def __init__(
        self,
        named: NamedToxic,
        draw: Draw,
        now_ms: float,
        began_ms: float,
        struck: Callable[[NamedToxic], None] | None,
    ) -> None:
        self.named, self.began_ms, self._struck = named, began_ms, struck
        self.state = named.toxic.begin(draw)
        named.counts.streams += 1
        self._inputs: deque[tuple[Piece, float]] = deque()
        self._inputs_bytes = 0
        self._begin(now_ms)

    def _begin(self, now_ms: float) -> None:
        self._current: Piece | None = None  # of which head and rest were made
        self._current_bytes = 0  # of it that have not gone on
        self._arrived_ms = now_ms
        self._head: Due | None = None
        self._rest: Iterator[Due] = iter(self.state.opened(now_ms, self.began_ms))
        self._last_ms = now_ms  # nothing goes on before what went on last
        self._touched = False

    @property
    def held_bytes(self) -> int:
        return self._inputs_bytes + self._current_bytes

    @property
    def next_due_ms(self) -> float:
        head = self._head or self._load()
        return head.at_ms if head else NEVER_MS

    @property
    def held_pieces(self) -> int:
        return len(self._inputs) + (self._current_bytes > 0)

    def put(self, piece: Piece, arrived_ms: float) -> None:
        self._inputs.append((piece, arrived_ms))
        self._inputs_bytes += _size(piece)

    def take(self, now_ms: float) -> Due | None:
        """Return the next piece, if it is due."""
        head = self._head or self._load()
        if head is None or head.at_ms > now_ms:
            return None
        self._head = None
        self._last_ms = head.at_ms
        self._current_bytes -= _size(head.piece)
        return head

    def drain(self) -> Iterator[tuple[Piece, float]]:
        """Yield all that is held and not due, with its arrival time; own marks are gone."""
        if isinstance(self._current, bytes):
            if self._current_bytes:  # a toxic that holds bytes gives them as they came
                yield self._current[-self._current_bytes :], self._arrived_ms
        elif self._current is not None and self._head is not None:
            yield self._current, self._arrived_ms
        yield from self._inputs

    def update(self, named: NamedToxic, now_ms: float) -> None:
        """Change the settings: as if all that is held had met them, but never earlier than now."""
        if named.toxic != self.named.toxic:
            held = deque(self.drain())
            self.state.updated(named.toxic)
            self._inputs = held
            self._inputs_bytes = sum(_size(piece) for piece, _ in held)
            self._begin(now_ms)
        self.named = named

    def _load(self) -> Due | None:
        """Return the next due piece, made of the waiting ones if need be."""
        while True:
            due = next(self._rest, None)
            if due is not None:
                self._head = due = self._in_order(due)
                return due
            if self._current_bytes:  # all or its end was lost
                self._touch()
            self._current_bytes = 0
            if not self._inputs:
                return None
            self._feed()

    def _feed(self) -> None:
        self._current, self._arrived_ms = self._inputs.popleft()
        self._touched = False
        self._current_bytes = _size(self._current)
        self._inputs_bytes -= self._current_bytes
        self._rest = iter(self.state.feed(self._current, self._arrived_ms))

    def _in_order(self, due: Due) -> Due:
        if due.own or due.at_ms > self._arrived_ms or due.piece is not self._current:
            self._touch()
        if due.at_ms < self._last_ms:
            return Due(due.piece, self._last_ms, due.own)
        return due

    def _touch(self) -> None:
        if self._touched:
            return
        self._touched = True
        self.named.counts.fired += 1
        if self._struck:
            tell, self._struck = self._struck, None
            tell(self.named)


def _size(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else 0
