"""The toxics of one direction of one connection, in order: pieces in, pieces out when due."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum

from harness.proxies.toxics.named import NamedToxic
from harness.proxies.toxics.stage import ToxicStage
from harness.proxies.toxics.toxic import LAST_MARKS, NEVER_MS, Draw, Piece

PIECE_COST_BYTES = 128  # the objects around one piece

Chance = Callable[[str, int], float]
"""The nth number in [0, 1) for the toxic of this name in this stream: 0 decides its toxicity."""


class ToxicChange(Enum):
    """The changes of a toxic while streams run."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"


class Chain:
    """Pure: ``push`` incoming pieces, call ``advance`` for those that may go on, again when due.

    The caller stops reading where ``held_cost_bytes`` is too much: a chain itself refuses nothing.
    After a mark CLOSE or RESET it gives nothing more, and takes nothing more. ``now_ms`` must never
    go back. With no toxic that strikes this stream it only hands on.
    """

    def __init__(
        self,
        chance: Chance,
        began_ms: float,
        toxics: Iterable[NamedToxic] = (),
        *,
        now_ms: float | None = None,
        struck: Callable[[NamedToxic], None] | None = None,
    ) -> None:
        """Begin with these toxics at ``now_ms`` (None: when the stream begins).

        ``began_ms``: the time when the stream began. ``struck`` is called with each toxic once,
        when it first does something to this stream.
        """
        now_ms = began_ms if now_ms is None else now_ms
        self._chance, self._began_ms, self._struck = chance, began_ms, struck
        self._named: dict[str, NamedToxic] = {}
        self._stages: dict[str, ToxicStage | None] = {}  # in order; None: spared, by its toxicity
        self._active: list[ToxicStage] = []
        self._ready: list[Piece] = []
        self._ready_bytes = 0
        self._ready_ms = now_ms  # since when the first of them may go on
        self._takes = True  # no last mark was pushed or made
        self._gives = True  # and none was given
        for named in toxics:
            self.add(named, now_ms)

    @property
    def is_idle(self) -> bool:
        """No toxic strikes this stream and nothing is held: what is pushed goes on at once."""
        return not self._active and not self._ready

    @property
    def held_bytes(self) -> int:
        return self._ready_bytes + sum(stage.held_bytes for stage in self._active)

    @property
    def held_cost_bytes(self) -> int:
        """The memory that what is held takes, about: also where it came in single bytes."""
        pieces = len(self._ready) + sum(stage.held_pieces for stage in self._active)
        return self.held_bytes + PIECE_COST_BYTES * pieces

    @property
    def next_due_ms(self) -> float:
        """When ``advance`` has something to do; may have passed. NEVER_MS: only after a change."""
        if self._ready:
            return self._ready_ms
        return min((stage.next_due_ms for stage in self._active), default=NEVER_MS)

    def push(self, piece: Piece, now_ms: float) -> None:
        """Take a piece from the socket: bytes or a mark."""
        if not self._takes or piece == b"":
            return
        if piece in LAST_MARKS:
            self._takes = False
        if self._active:
            self._active[0].put(piece, now_ms)
        else:
            self._give(piece, now_ms)

    def advance(self, now_ms: float) -> list[Piece]:
        """Return the pieces that may go on by now, in order; each is one write."""
        if self._active:
            self._run(now_ms)
        ready, self._ready, self._ready_bytes = self._ready, [], 0
        return ready

    def apply(self, change: ToxicChange, named: NamedToxic, now_ms: float) -> None:
        """Apply a change in a collection; a removed unknown or added known toxic is no error."""
        if change is ToxicChange.REMOVED:
            self.remove(named.name, now_ms)
        elif named.name in self._named:
            self.update(named, now_ms)
        else:
            self.add(named, now_ms)

    def add(self, named: NamedToxic, now_ms: float) -> None:
        """Add a toxic behind the others; it does not touch the pieces that have left them."""
        self._run(now_ms)
        self._named[named.name] = named
        self._stages[named.name] = self._stage(named, now_ms) if self._strikes(named) else None
        self._reorder()

    def update(self, named: NamedToxic, now_ms: float) -> None:
        """Change the settings or toxicity of the toxic of this name, in its place.

        The pieces that it holds go on as if these settings had been there when they came, but not
        before now. Its timeouts begin again. With the same settings nothing is disturbed.
        """
        self._run(now_ms)
        self._named[named.name] = named
        stage, strikes = self._stages[named.name], self._strikes(named)
        if stage and strikes:
            stage.update(named, now_ms)
        elif stage:
            self._take_out(named.name, now_ms)
        elif strikes:
            self._stages[named.name] = self._stage(named, now_ms)
            self._reorder()

    def remove(self, name: str, now_ms: float) -> None:
        """Remove a toxic; the pieces that it holds go on to the next toxic now."""
        self._run(now_ms)
        if self._stages.get(name):
            self._take_out(name, now_ms)
        self._stages.pop(name, None)
        self._named.pop(name, None)

    def _strikes(self, named: NamedToxic) -> bool:
        # A function of the name alone: drawn again it is the same number.
        return self._chance(named.name, 0) < named.toxicity

    def _stage(self, named: NamedToxic, now_ms: float) -> ToxicStage:
        return ToxicStage(named, self._draw(named.name), now_ms, self._began_ms, self._struck)

    def _draw(self, name: str) -> Draw:
        chance, drawn = self._chance, 0

        def draw() -> float:
            nonlocal drawn
            drawn += 1
            return chance(name, drawn)

        return draw

    def _reorder(self) -> None:
        self._active = [stage for stage in self._stages.values() if stage]

    def _take_out(self, name: str, now_ms: float) -> None:
        stage = self._stages[name]
        assert stage is not None
        index = self._active.index(stage)
        held = stage.drain()
        self._stages[name] = None
        self._reorder()
        forward = self._behind(index)
        for piece, _ in held:
            forward(piece, now_ms)

    def _behind(self, index: int) -> Callable[[Piece, float], None]:
        """Return the function that takes a piece to the toxic at this position."""
        return self._active[index].put if index < len(self._active) else self._give

    def _run(self, now_ms: float) -> None:
        """Move due pieces from each toxic to the next, with the time at which they were due."""
        cut = 0
        for index, stage in enumerate(self._active):
            forward = self._behind(index + 1)
            while due := stage.take(now_ms):
                forward(due.piece, due.at_ms)
                if due.piece in LAST_MARKS:
                    cut = index + 1
                    break
        if cut:
            self._cut_off(cut)

    def _cut_off(self, count: int) -> None:
        """Remove the toxics that a last mark has left: what they hold behind it is discarded."""
        self._takes = False
        for stage in self._active[:count]:
            self._stages[stage.named.name] = None
        self._reorder()

    def _give(self, piece: Piece, at_ms: float) -> None:
        if not self._gives:
            return
        if not self._ready:
            self._ready_ms = at_ms
        self._ready.append(piece)
        if isinstance(piece, bytes):
            self._ready_bytes += len(piece)
        elif piece in LAST_MARKS:
            self._gives = False
