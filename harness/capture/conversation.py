"""Frames of one connection, in both directions, to requests with their responses.

A broker answers in order. A response is matched by its correlation id with the oldest request that
waits for it; the requests passed over then have no response in the capture.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import replace

from harness.capture.captured_request import is_surely_request, read_request
from harness.capture.captured_response import is_surely_response, read_answer
from harness.capture.events import REQUEST, RESPONSE, Captured, ConnectionInfo, Event, Notice
from harness.capture.evidence import request_evidence
from harness.capture.frame_reader import Frame
from harness.capture.frame_search import PendingResponse, response_decodes
from harness.capture.limits import CaptureLimits
from harness.capture.mentions import TopicNames, mentions
from harness.capture.segment import SocketAddress

_SASL_HANDSHAKE = 17
_KERBEROS = b"\x60"  # how a GSSAPI token begins (RFC 2743, 3.1); Kafka 0.9 sends one as first frame
_INT32 = struct.Struct(">i")


class CapturedConversation:
    """Feed the frames of both directions as they were captured; take events.

    ``captured``: the ends with a packet in the capture so far. Without one of the server, a missing
    response is not known to be missing.
    """

    def __init__(
        self,
        info: ConnectionInfo,
        names: TopicNames,
        limits: CaptureLimits,
        captured: Collection[SocketAddress],
    ) -> None:
        self.info, self._captured = info, captured
        self._names, self._limits = names, limits
        self._pending: deque[Captured] = deque()
        self._pending_bytes = 0
        self._tokens = False  # SASL without Kafka's headers: after SaslHandshake v0
        self.recognised = False
        """True once the bytes were surely Kafka's: see ``harness.capture.evidence``."""

    @property
    def is_awaiting(self) -> bool:
        """True if a request has no response yet."""
        return bool(self._pending)

    def pending(self) -> Iterator[PendingResponse]:
        """The responses that are awaited, oldest first."""
        for request in self._pending:
            if request.api is not None and request.version is not None:
                assert request.correlation_id is not None
                yield PendingResponse(request.correlation_id, request.api, request.version)

    # Requests

    def request(self, frame: Frame) -> list[Event]:
        """Take a frame that the client sent."""
        seen = Captured(self.info, REQUEST, frame.time_ns, frame.length, frame.payload)
        seen.cut = frame.cut
        if self._is_token(frame):
            seen.token = True
        else:
            self._tokens = False
            read_request(seen)
            self.recognised = self.recognised or is_surely_request(seen)
            self._mention(seen)
        if not seen.answer_expected:
            return [seen]
        self._pending.append(seen)
        self._pending_bytes += len(seen.payload)
        return [seen, *self._keep_limits(frame.time_ns)]

    def _is_token(self, frame: Frame) -> bool:
        if not self.recognised and not self._pending and frame.payload[:1] == _KERBEROS:
            self._tokens = True
        return self._tokens and request_evidence(frame.payload) is None

    def _keep_limits(self, time_ns: int) -> Iterator[Event]:
        for at, old in enumerate(self._pending):
            if self._pending_bytes <= self._limits.pending_bytes:
                break
            self._pending_bytes -= len(old.payload)
            self._pending[at] = replace(old, payload=b"", message=None)
        if len(self._pending) > self._limits.pending_requests:
            forgotten = self._forget_first()
            if self.info.server in self._captured:
                yield self._unanswered(forgotten, time_ns)

    # Responses

    def response(self, frame: Frame) -> list[Event]:
        """Take a frame that the server sent."""
        events: list[Event] = []
        request = self._matching(frame, events)
        seen = Captured(self.info, RESPONSE, frame.time_ns, frame.length, frame.payload)
        seen.cut, seen.request = frame.cut, request
        if request is not None:
            seen.latency_ns = frame.time_ns - request.time_ns
            seen.api, seen.api_key, seen.version = request.api, request.api_key, request.version
            seen.client_id, seen.token = request.client_id, request.token
        if not seen.token:
            if len(frame.payload) >= _INT32.size:
                (seen.correlation_id,) = _INT32.unpack_from(frame.payload)
            read_answer(seen)
            self.recognised = self.recognised or is_surely_response(seen)
            self._mention(seen)
            self._watch_sasl(seen)
        return [*events, seen]

    def _matching(self, frame: Frame, events: list[Event]) -> Captured | None:
        if not self._pending:
            return None
        number = _INT32.unpack_from(frame.payload)[0] if len(frame.payload) >= 4 else None
        place = next(
            (
                at
                for at, request in enumerate(self._pending)
                if not request.token and request.correlation_id == number
            ),
            None,
        )
        if self._pending[0].token:
            # A token is any bytes, so what follows is a response only if it decodes as one.
            if place is None or not self._answers(frame.payload, self._pending[place]):
                return self._forget_first()
        elif place is None:
            return None
        assert place is not None
        for _ in range(place):
            passed = self._forget_first()
            if not passed.token:  # a last token need not be answered
                events.append(self._unanswered(passed, frame.time_ns))
        return self._forget_first()

    def _answers(self, payload: bytes, request: Captured) -> bool:
        if request.api is None or request.version is None or request.correlation_id is None:
            return False
        awaited = PendingResponse(request.correlation_id, request.api, request.version)
        return response_decodes(payload, awaited)

    def _watch_sasl(self, seen: Captured) -> None:
        if seen.api is None or seen.api.key != _SASL_HANDSHAKE or seen.message is None:
            return
        self._tokens = seen.version == 0 and not seen.errors

    # Both

    def _mention(self, seen: Captured) -> None:
        if seen.message is not None:
            seen.topics, seen.errors = mentions(seen.message, self._names)

    def _forget_first(self) -> Captured:
        request = self._pending.popleft()
        self._pending_bytes -= len(request.payload)
        return request

    def _unanswered(self, request: Captured, time_ns: int, when: str = "") -> Notice:
        name = f"{request.api.name} v{request.version}" if request.api else "request"
        text = f"no response to {name}, correlation id {request.correlation_id}{when}"
        return Notice(self.info, time_ns, "unanswered", text, 1)

    def finish(self, time_ns: int, *, is_closed: bool) -> list[Event]:
        """Return a notice for each request that was never answered, or for an end without packets.

        ``is_closed``: an end closed the connection; else the capture ends.
        """
        waiting = [request for request in self._pending if not request.token]
        self._pending.clear()
        for end, sends in ((self.info.server, "responses"), (self.info.client, "requests")):
            if end not in self._captured:
                text = f"no packet of {end} was captured: the {sends} are not known"
                return [Notice(self.info, time_ns, "one_sided", text, 1)]
        when = "" if is_closed else " before the capture ended"
        return [self._unanswered(request, time_ns, when) for request in waiting]
