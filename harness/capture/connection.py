"""One TCP connection: both directions put in order, server and client identified, frames read.

Bytes of the server wait while bytes of the client are missing, so that a response is never read
before its request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from harness.capture.conversation import CapturedConversation
from harness.capture.events import ConnectionInfo, Event, Notice
from harness.capture.frame_reader import Frame, FrameReader, Passed
from harness.capture.frame_search import RequestSearch, ResponseSearch
from harness.capture.key_log import KeyLog
from harness.capture.limits import CaptureLimits
from harness.capture.mentions import TopicNames
from harness.capture.reassembly import Chunk, Reassembly
from harness.capture.roles import RoleSearch
from harness.capture.segment import ACK, FIN, RST, SYN, SocketAddress, TcpSegment
from harness.capture.tls import is_tls, plain_alert
from harness.capture.tls_watch import TlsState, TlsWatch

Identify = Callable[[SocketAddress, SocketAddress], ConnectionInfo]
"""(client, server) -> the connection, numbered; called once both are identified."""


class CapturedConnection:
    """Feed its segments in the order of the capture; take events.

    ``server``: the end that is the server, where that is known beforehand; a SYN overrides it.
    ``key_log``: the secrets of TLS connections.
    """

    def __init__(
        self,
        ends: tuple[SocketAddress, SocketAddress],
        server: SocketAddress | None,
        names: TopicNames,
        limits: CaptureLimits,
        identify: Identify,
        key_log: KeyLog | None = None,
    ) -> None:
        self._ends, self._names, self._limits, self._identify = ends, names, limits, identify
        self._key_log = key_log
        self._streams = {end: Reassembly(limits) for end in ends}
        self._from_start = dict.fromkeys(ends, False)  # whether its SYN was seen
        self._first_seq: dict[SocketAddress, int] = {}
        self._held: list[TcpSegment] | None = []  # until it is known where both streams begin
        self._server = server
        self._roles = RoleSearch(ends, limits)  # keeps all bytes until the server is known
        self._late: deque[Chunk] = deque()  # of the server, while the client's stream waits
        self._readers: dict[SocketAddress, FrameReader] = {}
        self.conversation: CapturedConversation | None = None
        self._tls: TlsWatch | None = None
        self.spoke = False
        self._seen: set[SocketAddress] = set()  # the ends with a packet in the capture
        self._ended: set[SocketAddress] = set()
        self.last_ns = 0

    @property
    def over(self) -> bool:
        """True if no bytes are missing, and both sides have ended or one has sent RST."""
        return len(self._ended) == 2 and not any(s.blocked for s in self._streams.values())

    @property
    def encrypted(self) -> bool:
        """True for a TLS connection with bytes that are not decrypted."""
        if self._tls is None:
            return self._roles.is_tls
        return self._tls.state is TlsState.CLOSED

    @property
    def repeated_bytes(self) -> int:
        """Bytes that were sent again."""
        return sum(stream.repeated_bytes for stream in self._streams.values())

    def is_another(self, segment: TcpSegment) -> bool:
        """True if this SYN begins a new connection between the same ports."""
        if not segment.flags & SYN or self._held is not None:
            return False
        first = self._first_seq.get(segment.source)
        return first is not None and first != (segment.seq + 1) % (1 << 32)

    def feed(self, segment: TcpSegment) -> list[Event]:
        """Take the next captured segment between the two ends."""
        self.last_ns = max(self.last_ns, segment.time_ns)
        self._seen.add(segment.source)
        if self._held is None:
            return self._feed(segment)
        self._held.append(segment)
        if segment.flags & SYN or len(self._held) >= self._limits.start_packets:
            return self._release()
        return []

    def _release(self) -> list[Event]:
        """Begin both streams, without a SYN at the lowest sequence number of the held segments."""
        held, self._held = self._held or [], None
        for segment in held:
            if segment.flags & SYN:
                self._from_start[segment.source] = True
                self._first_seq[segment.source] = (segment.seq + 1) % (1 << 32)
                answer = bool(segment.flags & ACK)
                self._server = segment.source if answer else segment.destination
        for end in self._ends:
            numbers = [s.seq for s in held if s.source == end and (s.payload or s.missing)]
            if numbers and end not in self._first_seq:
                lowest = min(numbers, key=lambda n: (n - numbers[0] + (1 << 31)) % (1 << 32))
                self._first_seq[end] = lowest
            if end in self._first_seq:
                self._streams[end].begin(self._first_seq[end])
        return [event for segment in held for event in self._feed(segment)]

    def _feed(self, segment: TcpSegment) -> list[Event]:
        source, other = segment.source, segment.destination
        if segment.flags & SYN:
            self._first_seq.setdefault(source, (segment.seq + 1) % (1 << 32))
            if not self._streams[source].begun:
                self._from_start[source] = True
            self._streams[source].begin(self._first_seq[source])
        chunks: list[Chunk] = []
        if segment.payload or segment.missing:
            self.spoke = True
            seq = segment.seq + 1 if segment.flags & SYN else segment.seq
            self._first_seq.setdefault(source, seq)
            stream = self._streams[source]
            chunks = stream.feed(seq, segment.payload, segment.missing, segment.time_ns)
        if segment.flags & FIN:
            self._streams[source].finish_at(segment.seq + len(segment.payload) + segment.missing)
            self._ended.add(source)
        if segment.flags & RST:
            self._ended.update(self._ends)
        elif segment.flags & ACK:
            self._streams[other].confirm(segment.ack)
        events = self._chunks(source, chunks)
        for end in self._ends:
            events += self._chunks(end, self._streams[end].packet_passed(segment.time_ns))
        return events

    def _chunks(self, source: SocketAddress, chunks: list[Chunk]) -> list[Event]:
        if not chunks and not self._late:
            return []
        if self._server is None:
            return self._decide(source, chunks)
        if source == self._server:
            self._late += chunks
            return self._catch_up()
        events = [event for chunk in chunks for event in self._read(source, chunk)]
        return events + self._catch_up()

    def _catch_up(self) -> list[Event]:
        """Read the server's bytes, unless the client's stream waits for missing ones."""
        assert self._server is not None
        client = self._other(self._server)
        events: list[Event] = []
        while self._late and not self._streams[client].blocked:
            events += self._read(self._server, self._late.popleft())
        return events

    def _other(self, end: SocketAddress) -> SocketAddress:
        return self._ends[1] if end == self._ends[0] else self._ends[0]

    # The identification of the server

    def _decide(self, source: SocketAddress, chunks: list[Chunk]) -> list[Event]:
        self._roles.feed(source, chunks)
        return self._decided()

    def _decided(self) -> list[Event]:
        """Read what has waited, once the server is known."""
        if self._roles.server is None:
            return []
        self._server = self._roles.server
        early, self._roles = self._roles.early, RoleSearch(self._ends, self._limits)
        return [event for end, chunk in early for event in self._chunks(end, [chunk])]

    # Frames

    def _read(self, source: SocketAddress, chunk: Chunk) -> list[Event]:
        assert self._server is not None
        if self.conversation is None:
            self._converse(self._server)
        assert self.conversation is not None
        reader = self._readers[source]
        if self._tls is None and self._begins_tls(chunk):
            info = self.conversation.info
            self._tls = TlsWatch(str(info.client), str(info.server), self._key_log)
        if self._tls is not None:
            return self._read_tls(self._tls, source, chunk)
        if chunk.lost:
            return self._events(source, reader.gap(chunk.lost, chunk.time_ns))
        alert = plain_alert(chunk.data)
        if alert and source == self._server and not reader.held_bytes:
            text = f"TLS alert of {source}: {alert}, in answer to plain bytes: a TLS listener"
            return [Notice(self.conversation.info, chunk.time_ns, "tls", text)]
        return self._events(source, reader.feed(chunk.data, chunk.time_ns))

    def _begins_tls(self, chunk: Chunk) -> bool:
        """True if TLS begins here; an alert after a plain request is no beginning."""
        assert self.conversation is not None
        is_plain = self.conversation.recognised or self.conversation.is_awaiting
        return not is_plain and is_tls(chunk.data)

    def _read_tls(self, tls: TlsWatch, source: SocketAddress, chunk: Chunk) -> list[Event]:
        assert self.conversation is not None
        info, events = self.conversation.info, list[Event]()
        from_server = source == self._server
        if chunk.lost and tls.state is not TlsState.CLOSED:
            events += _notices(info, source, Passed(chunk.time_ns, chunk.lost, 0))
        found: Iterable[bytes | str] = (
            tls.lost(from_server=from_server)
            if chunk.lost
            else tls.feed(chunk.data, from_server=from_server)
        )
        for one in found:
            if isinstance(one, str):
                events.append(Notice(info, chunk.time_ns, "tls", one))
            else:
                events += self._events(source, self._readers[source].feed(one, chunk.time_ns))
        return events

    def _converse(self, server: SocketAddress) -> None:
        client = self._other(server)
        info = self._identify(client, server)
        self.conversation = CapturedConversation(info, self._names, self._limits, self._seen)
        for end, search in (
            (client, RequestSearch(self._limits)),
            (server, ResponseSearch(self.conversation.pending, self._limits)),
        ):
            self._readers[end] = FrameReader(search, self._limits, in_step=self._from_start[end])

    def _events(self, source: SocketAddress, found: list[Frame | Passed]) -> list[Event]:
        assert self.conversation is not None
        events: list[Event] = []
        for one in found:
            if isinstance(one, Passed):
                events += _notices(self.conversation.info, source, one)
            elif source == self._server:
                events += self.conversation.response(one)
            else:
                events += self.conversation.request(one)
        return events

    def finish(self) -> list[Event]:
        """Return the last events: nothing more will come."""
        events = self._release() if self._held is not None else []
        for end in sorted(self._ends, key=lambda end: end == self._server):  # the client first
            events += self._chunks(end, self._streams[end].finish(self.last_ns))
        if self._server is None:
            self._roles.finish()
            events += self._decided()
        if self.conversation is None:
            return events
        if self._tls is not None:
            texts = self._tls.finish(is_ended=self._server in self._ended & self._seen)
            info = self.conversation.info
            events += [Notice(info, self.last_ns, "tls", text) for text in texts]
        is_closed = bool(self._ended)
        for end in sorted(self._ends, key=lambda end: end == self._server):
            rest = self._readers[end].finish(self.last_ns, is_closed=end in self._ended)
            events += self._events(end, rest)
        return events + self.conversation.finish(self.last_ns, is_closed=is_closed)


def _notices(info: ConnectionInfo, source: SocketAddress, passed: Passed) -> list[Event]:
    found: list[Event] = []
    if passed.lost:
        text = f"{passed.lost} bytes of {source} were not captured"
        found.append(Notice(info, passed.time_ns, "lost", text, passed.lost))
    if passed.skipped:
        text = f"{passed.skipped} bytes of {source} passed over: no frame could be read in them"
        found.append(Notice(info, passed.time_ns, "skipped", text, passed.skipped))
    return found
