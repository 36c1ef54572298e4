"""How much memory things may take that clients make as many of as they like."""

from collections.abc import Callable

from harness.ids import TimeMs

_CROWDED = 16  # when less than a part in so many is left
_COUNT_AGAIN_MS = 1_000

PER_THING_BYTES = 500
"""What an object costs beside its texts, roughly."""


class Room:
    """Estimated bytes: taken when something is made, counted again when none seem to be left.

    So nobody has to tell what became of which. A crowded room is not counted for every request.
    """

    __slots__ = ("_left_bytes", "_limit_bytes", "_next_count", "_used_bytes")

    def __init__(self, limit_bytes: int, used_bytes: Callable[[], int]) -> None:
        self._limit_bytes = self._left_bytes = limit_bytes
        self._used_bytes = used_bytes
        self._next_count = TimeMs(0)

    def take(self, size_bytes: int, now: TimeMs) -> bool:
        """Whether something of this size may be made."""
        if size_bytes > self._left_bytes and now >= self._next_count:
            self._left_bytes = self._limit_bytes - self._used_bytes()
            if self._left_bytes < self._limit_bytes // _CROWDED:
                self._next_count = TimeMs(now + _COUNT_AGAIN_MS)
        if size_bytes > self._left_bytes:
            return False
        self._left_bytes -= size_bytes
        return True
