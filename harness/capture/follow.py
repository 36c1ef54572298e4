"""A whole capture: segments of many connections in, events of those that speak Kafka out."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Iterator
from typing import IO

from harness.capture.capture_file import CaptureFile
from harness.capture.connection import CapturedConnection
from harness.capture.events import REQUEST, ConnectionInfo, Event, Notice, Totals
from harness.capture.key_log import KeyLog
from harness.capture.limits import LIMITS, CaptureLimits
from harness.capture.mentions import TopicNames
from harness.capture.segment import FIN, RST, SYN, SocketAddress, TcpSegment

Key = tuple[SocketAddress, SocketAddress]
_CLOSED_REMEMBERED = 4096  # late copies of their last packets begin no new connection
_HELD_EVENTS = 256  # of a connection that has not yet shown that it speaks Kafka
_NOTICE_TOTALS = {
    "lost": "lost_bytes",
    "skipped": "skipped_bytes",
    "unanswered": "unanswered",
    "one_sided": "one_sided_connections",
}


class Follower:
    """Iterate ``events``; ``totals`` count along and are complete at the end.

    ``ports`` of servers: with them only their connections are read, and taken for Kafka. Without, a
    connection is reported once a request in it was recognised. ``key_log``: the secrets of TLS
    connections, which are then decrypted.
    """

    def __init__(
        self,
        ports: Collection[int] = (),
        limits: CaptureLimits = LIMITS,
        key_log: KeyLog | None = None,
    ) -> None:
        self._ports, self._limits, self._key_log = frozenset(ports), limits, key_log
        self._names = TopicNames()
        self._open: OrderedDict[Key, CapturedConnection] = OrderedDict()
        self._held: dict[Key, deque[Event]] = {}
        self._closed: OrderedDict[Key, None] = OrderedDict()
        self._numbered = 0
        self.totals = Totals()

    def events(self, segments: Iterable[TcpSegment]) -> Iterator[Event]:
        """Yield the events of the segments, as soon as they are known."""
        for segment in segments:
            yield from self._feed(segment)
        while self._open:
            yield from self._close(next(iter(self._open)))

    def _feed(self, segment: TcpSegment) -> Iterator[Event]:
        source, destination = segment.source, segment.destination
        if self._ports and not self._ports & {source.port, destination.port}:
            return
        key = (source, destination) if source < destination else (destination, source)
        connection = self._open.get(key)
        if connection is not None and connection.is_another(segment):
            yield from self._close(key)
            connection = None
        if connection is None:
            if not self._begins(key, segment):
                return
            if len(self._open) >= self._limits.connections:
                yield from self._close_silent()
            connection = self._open[key] = self._connection(key, segment.interface)
        self._open.move_to_end(key)
        yield from self._tell(key, connection, connection.feed(segment))
        if connection.over:
            yield from self._close(key)

    def _begins(self, key: Key, segment: TcpSegment) -> bool:
        if segment.flags & SYN:
            return True
        return key not in self._closed and not (segment.flags & (FIN | RST) and not segment.payload)

    def _connection(self, key: Key, interface: str) -> CapturedConnection:
        servers = [end for end in key if end.port in self._ports]
        server = servers[0] if len(servers) == 1 else None

        def identify(client: SocketAddress, server: SocketAddress) -> ConnectionInfo:
            self._numbered += 1
            return ConnectionInfo(self._numbered, client, server, interface)

        return CapturedConnection(key, server, self._names, self._limits, identify, self._key_log)

    def _tell(
        self, key: Key, connection: CapturedConnection, events: list[Event]
    ) -> Iterator[Event]:
        """Yield the events, or hold them while the connection may be of another protocol."""
        sure = bool(self._ports) or connection.encrypted
        sure = sure or (connection.conversation is not None and connection.conversation.recognised)
        if not sure:
            if events:
                self._held.setdefault(key, deque(maxlen=_HELD_EVENTS)).extend(events)
            return
        for event in (*self._held.pop(key, ()), *events):
            self._count(event)
            yield event

    def _close_silent(self) -> Iterator[Event]:
        """End the connection that was silent for longest, and yield a notice of that."""
        key, connection = next(iter(self._open.items()))
        conversation = connection.conversation
        yield from self._close(key)
        if conversation is not None and conversation.recognised:
            text = f"no longer followed: more than {self._limits.connections} connections at once"
            yield Notice(conversation.info, connection.last_ns, "limit", text)

    def _close(self, key: Key) -> Iterator[Event]:
        connection = self._open.pop(key)
        yield from self._tell(key, connection, connection.finish())
        self.totals.repeated_bytes += connection.repeated_bytes
        self._held.pop(key, None)
        conversation = connection.conversation
        if connection.encrypted:
            self.totals.encrypted_connections += 1
        elif conversation is not None and (self._ports or conversation.recognised):
            self.totals.connections += 1
        elif connection.spoke:
            self.totals.other_connections += 1
        self._closed[key] = None
        if len(self._closed) > _CLOSED_REMEMBERED:
            self._closed.popitem(last=False)

    def _count(self, event: Event) -> None:
        totals = self.totals
        if isinstance(event, Notice):
            name = _NOTICE_TOTALS.get(event.kind)
            if name is not None:
                setattr(totals, name, getattr(totals, name) + event.count)
            return
        if event.token:
            totals.tokens += 1
        elif event.direction == REQUEST:
            totals.requests += 1
        else:
            totals.responses += 1
            totals.unmatched += event.request is None
        totals.undecodable += event.problem is not None
        totals.with_left_over += event.left_over > 0


def read_capture(
    file: str | IO[bytes], ports: Collection[int] = (), limits: CaptureLimits = LIMITS
) -> Iterator[Event]:
    """The events of a capture file; see ``Follower`` for ``ports``.

    Raises CaptureError for a file that is no capture, ScapyMissing without scapy.
    """
    return Follower(ports, limits).events(CaptureFile(file))
