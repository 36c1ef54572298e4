"""Defects of area CONN: partial reads, repeated correlation ids, slow readers."""

from __future__ import annotations

from collections.abc import Sequence

from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import correlation_id, rule
from labs.defects.one_client import is_from, misread

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


DEFECTS = [
    rule("CONN-003", r"a wait: -\d+ was sent, \d+ came back", WaitsLoseTheSign),
    rule("CONN-006", r"closed the connection", BytesBehindALargeRequestAreLost),
    rule("CONN-007", r"no answer before the deadline", StalledReaderStopsAllConnections),
    rule("CONN-008", r"closed the connection", AnswersAreLostWithABadFrame),
    rule("CONN-008", r"closed the connection", AnIdMayBeInFlightOnce),
    rule("CONN-030", r"closed the connection", AnswersAreLostWithABadLength),
    rule("CONN-031", r"closed the connection", AWaitEndsWithTheStream),
    rule("CONN-020", r"closed the connection", RestOfAPieceIsLost),
]
