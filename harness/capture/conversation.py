"""Frames of one connection, in both directions, to requests with their responses.

A broker answers in order. A response is matched by its correlation id with the oldest request that
waits for it; the requests passed over then have no response in the capture.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from harness.capture.events import REQUEST, RESPONSE, Captured, ConnectionInfo, Event, Notice
from harness.capture.frame_reader import Frame
from harness.capture.frame_search import PendingResponse, request_decodes, response_decodes
from harness.capture.limits import CaptureLimits
from harness.capture.mentions import TopicNames, mentions
from harness.capture.produce_acks import acks_at_start
from harness.codec import CodecError, DecodeError, decode
from harness.codec.apis import API_VERSIONS_KEY, APIS
from harness.codec.error_code import ErrorCode
from harness.codec.header import RequestRefused, decode_request_header, decode_response
from harness.codec.messages import ProduceRequest, RequestHeader
from harness.codec.structs import Message

_PRODUCE, _SASL_HANDSHAKE = 0, 17
_KERBEROS = b"\x60"  # how a GSSAPI token begins (RFC 2743, 3.1); Kafka 0.9 sends one as first frame
_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")


class CapturedConversation:
    """Feed the frames of both directions as they were captured; take events."""

    def __init__(self, info: ConnectionInfo, names: TopicNames, limits: CaptureLimits) -> None:
        self.info = info
        self._names, self._limits = names, limits
        self._pending: deque[Captured] = deque()
        self._pending_bytes = 0
        self._tokens = False  # SASL without Kafka's headers: after SaslHandshake v0
        self.recognised = False
        """True once a request with a header that Kafka knows was seen."""

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
            self._read_request(seen)
            self._mention(seen)
        if not seen.answer_expected:
            return [seen]
        self._pending.append(seen)
        self._pending_bytes += len(seen.payload)
        return [seen, *self._keep_limits(frame.time_ns)]

    def _is_token(self, frame: Frame) -> bool:
        if not self.recognised and not self._pending and frame.payload[:1] == _KERBEROS:
            self._tokens = True
        return self._tokens and not request_decodes(frame.payload)

    def _read_request(self, seen: Captured) -> None:
        try:
            header, body = decode_request_header(seen.payload)
        except RequestRefused as refused:
            seen.problem = refused
            self._take_header(seen, refused.header)
            return
        except CodecError as problem:
            seen.problem = problem
            return
        self.recognised = True
        self._take_header(seen, header)
        api, version = APIS[header.request_api_key], header.request_api_version
        if not seen.cut:
            try:
                seen.message = decode(api.request, version, seen.payload, body)
            except CodecError as problem:
                seen.problem = problem
        if isinstance(seen.message, ProduceRequest):
            seen.answer_expected = seen.message.acks != 0
        elif api.key == _PRODUCE:
            seen.answer_expected = acks_at_start(version, seen.payload[body:]) != 0

    def _take_header(self, seen: Captured, header: RequestHeader) -> None:
        seen.api = APIS.get(header.request_api_key)
        seen.version = header.request_api_version
        seen.correlation_id = header.correlation_id
        has_client = seen.api is None or seen.api.request_header_version(seen.version) > 0
        seen.client_id = header.client_id if has_client else None

    def _keep_limits(self, time_ns: int) -> Iterator[Event]:
        for at, old in enumerate(self._pending):
            if self._pending_bytes <= self._limits.pending_bytes:
                break
            self._pending_bytes -= len(old.payload)
            self._pending[at] = replace(old, payload=b"", message=None)
        if len(self._pending) > self._limits.pending_requests:
            yield self._unanswered(self._forget_first(), time_ns)

    # Responses

    def response(self, frame: Frame) -> list[Event]:
        """Take a frame that the server sent."""
        events: list[Event] = []
        request = self._matching(frame, events)
        seen = Captured(self.info, RESPONSE, frame.time_ns, frame.length, frame.payload)
        seen.cut, seen.request = frame.cut, request
        if request is not None:
            seen.latency_ns = frame.time_ns - request.time_ns
            seen.api, seen.version = request.api, request.version
            seen.client_id, seen.token = request.client_id, request.token
        if not seen.token:
            if len(frame.payload) >= _INT32.size:
                (seen.correlation_id,) = _INT32.unpack_from(frame.payload)
            self._read_response(seen)
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

    def _read_response(self, seen: Captured) -> None:
        if seen.api is None or seen.version is None or seen.cut:
            return
        request = seen.request
        refused = request is not None and isinstance(request.problem, RequestRefused)
        if refused and seen.api.key != API_VERSIONS_KEY:
            seen.problem = request.problem if request else None
            return
        try:
            seen.message = self._decoded(seen, seen.version)
        except CodecError as problem:
            seen.problem = problem

    def _decoded(self, seen: Captured, version: int) -> Message:
        assert seen.api is not None
        refused = seen.api.key == API_VERSIONS_KEY and (
            seen.payload[4:6] == _INT16.pack(ErrorCode.UNSUPPORTED_VERSION)
        )
        if refused and version:  # KIP-511: answered in the form of version 0
            try:
                message = decode_response(seen.api, 0, seen.payload)[1]
                seen.version = 0
            except DecodeError:
                pass  # so it is of the version that was asked for after all
            else:
                return message
        return decode_response(seen.api, version, seen.payload)[1]

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

    def _unanswered(self, request: Captured, time_ns: int) -> Notice:
        name = f"{request.api.name} v{request.version}" if request.api else "request"
        text = f"no response to {name}, correlation id {request.correlation_id}"
        return Notice(self.info, time_ns, "unanswered", text, 1)

    def finish(self, time_ns: int) -> list[Event]:
        """Return a notice for each request that was never answered: the connection ends."""
        waiting = [request for request in self._pending if not request.token]
        self._pending.clear()
        return [self._unanswered(request, time_ns) for request in waiting]
