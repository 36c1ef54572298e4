"""A memory limit for objects that clients can create in any number."""

from collections.abc import Callable

from harness.base.ids import TimeMs

_CROWDED = 16  # when less than a part in so many is left
_COUNT_AGAIN_MS = 1_000

PER_THING_BYTES = 500
"""The rough size of an object without its texts."""


class MemoryBudget:
    """Estimated bytes: reduced for each new object, counted again when none seem to be left.

    So no caller has to report the end of an object. While little is left, the count is made once a
    second and not for every request.
    """

    __slots__ = ("_left_bytes", "_limit_bytes", "_next_count", "_used_bytes")

    def __init__(self, limit_bytes: int, used_bytes: Callable[[], int]) -> None:
        self._limit_bytes = self._left_bytes = limit_bytes
        self._used_bytes = used_bytes
        self._next_count = TimeMs(0)

    def take(self, size_bytes: int, now: TimeMs) -> bool:
        """Take the room for a new object; True if it is enough."""
        if size_bytes > self._left_bytes and now >= self._next_count:
            self._left_bytes = self._limit_bytes - self._used_bytes()
            if self._left_bytes < self._limit_bytes // _CROWDED:
                self._next_count = TimeMs(now + _COUNT_AGAIN_MS)
        if size_bytes > self._left_bytes:
            return False
        self._left_bytes -= size_bytes
        return True
