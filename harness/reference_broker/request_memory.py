"""How much of requests may be on its way into the broker at once, over all connections.

Source: KIP-72 (queued.max.request.bytes), class SimpleMemoryPool: a request may begin to be read
while anything is left, and waits its turn otherwise.
"""

from collections.abc import Callable

Resume = Callable[[], None]


class RequestMemory:
    """Bytes that requests may take. Who asks in vain is called when there is some again."""

    __slots__ = ("_left_bytes", "_queue")

    def __init__(self, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes
        self._queue: dict[Resume, None] = {}

    @property
    def left_bytes(self) -> int:
        """What is left; below 0 while the last request to begin takes more than there was."""
        return self._left_bytes

    def take(self, size: int, resume: Resume) -> bool:
        """Reserve `size` bytes; False when nothing is left, and `resume` is called later."""
        if self._left_bytes <= 0 or (self._queue and resume not in self._queue):
            self._queue[resume] = None
            return False
        self._queue.pop(resume, None)
        self._left_bytes -= size
        return True

    def give_back(self, size: int) -> None:
        """What was reserved is not needed any more; the longest waiting go on."""
        self._left_bytes += size
        while self._left_bytes > 0 and self._queue:
            resume = next(iter(self._queue))
            resume()
            self._queue.pop(resume, None)

    def leave(self, resume: Resume) -> None:
        """Who waited is not there any more."""
        self._queue.pop(resume, None)
