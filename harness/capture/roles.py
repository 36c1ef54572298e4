"""The client and the server of a connection that was captured without its SYN, by the bytes.

The client sends requests, and the server responses to them. A request that has a readable client id
or names a topic is enough; a lesser one counts only with its response. Without either the roles
remain unknown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque

from harness.capture.evidence import is_api_versions_response
from harness.capture.frame_search import RequestSearch, ResponseSearch
from harness.capture.limits import CaptureLimits
from harness.capture.reassembly import Chunk
from harness.capture.segment import SocketAddress
from harness.capture.tls import CLIENT_HELLO, fills_records, hello_of
from harness.codec.frame import LENGTH_BYTES

_API_VERSIONS_LOOKED_FOR = 64  # packets in which such a response may begin


class _Side:
    """The bytes of one end as far as they are kept, and where packets began in them."""

    def __init__(self, limits: CaptureLimits) -> None:
        self.buffer = bytearray()
        self.starts: list[int] = []
        self.requests = RequestSearch(limits, sure_only=True)
        self.responses: ResponseSearch | None = None  # to requests of the other end
        self.seen_possible = 0

    def add(self, chunk: Chunk) -> None:
        if chunk.lost:
            self.forget(len(self.buffer))
        if chunk.data:
            self.starts.append(len(self.buffer))
            self.buffer += chunk.data

    def forget(self, count: int) -> None:
        """Drop the first ``count`` bytes."""
        count = min(count, len(self.buffer))
        del self.buffer[:count]
        kept = self.starts[bisect_left(self.starts, count) :]
        self.starts = [start - count for start in kept]
        self.requests.forget()
        self.responses = None


class RoleSearch:
    """Feed the chunks of both ends; ``server`` is None until it is known.

    ``early``: the chunks that were fed, at most ``Limits.search_bytes`` of them. ``is_tls``: they
    are records of TLS, with unknown roles.
    """

    def __init__(self, ends: tuple[SocketAddress, SocketAddress], limits: CaptureLimits) -> None:
        self._ends, self._limits = ends, limits
        self._sides = {end: _Side(limits) for end in ends}
        self.early: deque[tuple[SocketAddress, Chunk]] = deque()
        self._early_bytes = 0
        self.server: SocketAddress | None = None
        self.is_tls = False

    def feed(self, source: SocketAddress, chunks: list[Chunk]) -> None:
        """Take the next bytes of ``source``, and search in them."""
        if self.is_tls:
            return
        for chunk in chunks:
            self.early.append((source, chunk))
            self._early_bytes += len(chunk.data)
            self._sides[source].add(chunk)
        self._look_for_tls(source, chunks)
        if chunks and self.server is None and not self.is_tls:
            self._search(source)
        while self.server is None and self._early_bytes > self._limits.search_bytes:
            end, chunk = self.early.popleft()
            self._early_bytes -= len(chunk.data)
            self._sides[end].forget(len(chunk.data))

    def _look_for_tls(self, source: SocketAddress, chunks: list[Chunk]) -> None:
        for chunk in chunks:
            hello = hello_of(chunk.data)
            if hello is not None:
                self.server = self._other(source) if hello == CLIENT_HELLO else source
                return
            if fills_records(chunk.data):
                self.is_tls = True
                self.early.clear()
                self._sides.clear()
                return

    def _search(self, source: SocketAddress) -> None:
        side, other = self._sides[source], self._other(source)
        asks = side.requests.find(side.buffer, side.starts, last=False) is not None
        if asks or self._is_answered(source, other):
            self.server = other
        elif self._is_answered(other, source):
            self.server = source

    def _is_answered(self, client: SocketAddress, server: SocketAddress) -> bool:
        """True if ``server`` sent a response to a request that ``client`` possibly sent."""
        possible, side = self._sides[client].requests.possible, self._sides[server]
        if not possible:
            return False
        if side.responses is None or side.seen_possible != len(possible):
            side.responses = ResponseSearch(lambda: list(possible), self._limits)
            side.seen_possible = len(possible)
        return side.responses.find(side.buffer, [], last=False) is not None

    def finish(self) -> None:
        """Search once more: nothing follows. A stream without the other may be of responses."""
        if self.is_tls:
            return
        silent = [end for end in self._ends if not self._sides[end].buffer]
        if self.server is None and len(silent) == 1:
            server = self._other(silent[0])
            if self._advertises(self._sides[server]):
                self.server = server

    def _advertises(self, side: _Side) -> bool:
        for start in side.starts[:_API_VERSIONS_LOOKED_FOR]:
            length = int.from_bytes(side.buffer[start : start + LENGTH_BYTES], "big")
            begin = start + LENGTH_BYTES
            payload = side.buffer[begin : begin + length]
            if len(payload) == length and is_api_versions_response(bytes(payload)):
                return True
        return False

    def _other(self, end: SocketAddress) -> SocketAddress:
        return self._ends[1] if end == self._ends[0] else self._ends[0]
