"""The limit of memory for requests that are being read or served, over all connections.

Source: KIP-72 (queued.max.request.bytes), class SimpleMemoryPool: a connection may begin to read a
request while any memory is left, and waits its turn otherwise. Its size is that of the frame
without the length in front (class NetworkReceive).
"""

from collections.abc import Callable
from functools import cache

from harness.codec.apis import APIS

Resume = Callable[[], None]


@cache
def keeps_request(api_key: int) -> bool:
    """True if a request of this API is in memory as it came until it is answered.

    That is so if a version of it has a field of bytes or records.
    Source: class ApiKeys (requiresDelayedAllocation).
    """
    spec = APIS[api_key].request.message_spec
    return any(
        {field.kind, field.element} & {"bytes", "records"}
        for struct in (spec.root, *spec.structs.values())
        for field in struct.fields
    )


class RequestMemory:
    """Bytes that requests may take; refused connections are called when some are free again.

    `uncounted_bytes`: requests of up to this size take none.
    """

    __slots__ = ("_left_bytes", "_queue", "uncounted_bytes")

    def __init__(self, limit_bytes: int, uncounted_bytes: int = 0) -> None:
        self._left_bytes, self.uncounted_bytes = limit_bytes, uncounted_bytes
        self._queue: dict[Resume, None] = {}

    @property
    def left_bytes(self) -> int:
        """The free bytes; below 0 while the last request to begin takes more than there were."""
        return self._left_bytes

    def take(self, size: int, resume: Resume) -> bool:
        """Reserve `size` bytes; False if none are left: then `resume` is called later."""
        if self._left_bytes <= 0 or (self._queue and resume not in self._queue):
            self._queue[resume] = None
            return False
        self._queue.pop(resume, None)
        self._left_bytes -= size
        return True

    def give_back(self, size: int) -> None:
        """Release reserved bytes; resume the longest waiting connections."""
        self._left_bytes += size
        while self._left_bytes > 0 and self._queue:
            resume = next(iter(self._queue))
            resume()
            self._queue.pop(resume, None)

    def leave(self, resume: Resume) -> None:
        """Remove a waiting connection from the queue."""
        self._queue.pop(resume, None)
