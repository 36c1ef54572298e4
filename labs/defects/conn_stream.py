"""Defects of area CONN: partial reads, repeated correlation ids, slow readers."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.messages import FetchRequest, FetchResponse, JoinGroupRequest
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.proxies import FrameRule, SeenRequest
from labs.defects.conn import ChangesPlaces
from labs.defects.defect import correlation_id, rule
from labs.defects.edited_answer import answers
from labs.defects.one_client import is_from, misread, of_client
from suites.protocol.connections.test_processing_order import BEHIND, CLIENT, JOINING
from suites.protocol.support.classic_group import KNOWN_ID

LAST_GOOD = 2  # the ordinal of the request before the bad frame


class RestOfAPieceIsLost(FrameRule):
    """The broker loses the bytes after a whole frame if they are only the beginning of the next."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        begins_late = seen.ordinal > 0 and is_from(seen, "CONN-020")
        return misread(seen) if begins_late else seen.payload


class AnIdMayBeInFlightOnce(FrameRule):
    """The broker closes the connection if a request's correlation id is already in flight."""

    def __init__(self) -> None:
        self.in_flight: set[tuple[int, int]] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if seen.header is None or not seen.gets_answer:
            return seen.payload
        key = (seen.place.connection, correlation_id(seen.payload))
        if key in self.in_flight:
            return misread(seen)
        self.in_flight.add(key)
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.header is not None:
            self.in_flight.discard((seen.place.connection, correlation_id(seen.payload)))
        return [payload]


class StalledReaderStopsAllConnections(FrameRule):
    """The broker stops serving other clients while one does not read its answers."""

    def __init__(self) -> None:
        self.unread = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if is_from(seen, "CONN-007 stalled"):
            self.unread += 1
        elif self.unread and is_from(seen, "CONN-007"):
            return None
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if is_from(seen, "CONN-007 stalled"):
            self.unread -= 1
        return [payload]


class AnswersAreLostWithABadFrame(FrameRule):
    """The broker closes the connection on a bad frame before it has sent the former answer."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_last = is_from(seen, "CONN-008") and seen.ordinal == LAST_GOOD
        return misread(seen) if is_last else seen.payload


class AnswersAreLostWithABadLength(FrameRule):
    """The broker closes the connection on a bad length before it has sent the former answer."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_last = is_from(seen, "CONN-030") and seen.ordinal == LAST_GOOD
        return misread(seen) if is_last else seen.payload


class AWaitEndsWithTheStream(FrameRule):
    """The broker drops a Fetch that waits as soon as the client sends no more."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        waits = is_from(seen, "CONN-031") and seen.ordinal == LAST_GOOD
        return misread(seen) if waits else seen.payload


class WaitsLoseTheSign(FrameRule):
    """The broker answers a Fetch that has waited with a correlation id without its sign."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if getattr(seen.message, "max_wait_ms", 0) > 0 and correlation_id(seen.payload) < 0:
            payload = bytes([payload[0] & 0x7F]) + payload[1:]
        return [payload]


class BytesBehindALargeRequestAreLost(FrameRule):
    """The broker drops the bytes that it reads together with the end of a large request."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_behind = is_from(seen, "CONN-006") and seen.ordinal > 0
        return misread(seen) if is_behind else seen.payload


@answers("CONN-004", r"a Fetch returns \[b'sent later'\]", asked=of_client(CLIENT))
def a_wait_sees_what_was_sent_after_it(request: FetchRequest, answer: FetchResponse) -> None:
    """The broker processes a Produce while the Fetch before it on its connection waits."""
    asked, part = request.topics[0].partitions[0], answer.responses[0].partitions[0]
    if not part.records and asked.fetch_offset == 0:
        part.records = encode_batch(RecordBatch([Record(b"sent later")], 0))


class CheapRequestOvertakesAJoin(ChangesPlaces):
    """The broker answers ApiVersions before the JoinGroup that waits for other members."""

    second = BEHIND

    def is_first(self, seen: SeenRequest) -> bool:
        request = seen.message
        is_join = isinstance(request, JoinGroupRequest) and is_from(seen, JOINING)
        return is_join and (seen.version < KNOWN_ID or bool(getattr(request, "member_id", "")))


DEFECTS = [
    a_wait_sees_what_was_sent_after_it,
    rule("CONN-005", r"JoinGroup|correlation id", CheapRequestOvertakesAJoin),
    rule("CONN-003", r"a wait: -\d+ was sent, \d+ came back", WaitsLoseTheSign),
    rule("CONN-006", r"closed the connection", BytesBehindALargeRequestAreLost),
    rule("CONN-007", r"no answer before the deadline", StalledReaderStopsAllConnections),
    rule("CONN-008", r"closed the connection", AnswersAreLostWithABadFrame),
    rule("CONN-008", r"closed the connection", AnIdMayBeInFlightOnce),
    rule("CONN-030", r"closed the connection", AnswersAreLostWithABadLength),
    rule("CONN-031", r"closed the connection", AWaitEndsWithTheStream),
    rule("CONN-020", r"closed the connection", RestOfAPieceIsLost),
]
