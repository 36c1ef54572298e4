"""The upstream direction: requests, and the answers to expect."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import partial

from harness.capture.tls import plain_alert
from harness.codec.frame import LENGTH_BYTES, frame
from harness.proxies.counters import UNKNOWN, Traffic
from harness.proxies.direction import Direction
from harness.proxies.frame_routing import Course
from harness.proxies.frames import FrameFinder, Pieces
from harness.proxies.raw_tokens import TokenState
from harness.proxies.responses import ResponseWatch
from harness.proxies.seen import PRODUCE_KEY, SeenConnection, SeenRequest
from harness.proxies.step import Send, SendBack, Step
from harness.proxies.stream import Call, Stream
from harness.proxies.unanswered import HEAD, OwnAnswer, Unanswered, UnansweredRequest
from harness.proxies.watching import FrameWatch, Shared

WITHHELD = 1000  # requests that a rule kept back, to know them when it sends them
UNKNOWN_HEAD = (*UNKNOWN, None)
_LENGTH = struct.Struct(">i")


Claim = tuple[int, Course]
"""A collected request: its ordinal, and its course."""


class RequestWatch(FrameWatch):
    """The watch of requests; what is sent in their place is expected to be answered."""

    direction = Direction.UPSTREAM

    def __init__(
        self,
        stream: Stream,
        traffic: Traffic,
        place: SeenConnection,
        shared: Shared,
        unanswered: Unanswered,
        responses: ResponseWatch,
    ) -> None:
        super().__init__(stream, traffic, place, shared)
        self._unanswered, self._responses = unanswered, responses
        self._withheld: dict[int, SeenRequest] = {}
        self._withheld_bytes = 0
        self._asked: SeenRequest | None = None  # what a rule is asked about and has not sent yet
        self._has_ended = False  # the client: what is incomplete remains so
        self.finder: FrameFinder[Claim] = FrameFinder(
            self, HEAD.size, longest=shared.limits.request_bytes
        )

    def tls_text(self, data: bytes) -> str:
        alert = plain_alert(data)
        if alert:
            return f"TLS alert of the client: {alert}"
        shared = self.shared
        shared.guarded(shared.interceptor.encrypted, self.place)
        return "the client speaks TLS: its bytes pass unread"

    def begins(self, data: bytes, at: int, length: int) -> Claim | None:
        ordinal = self.ordinal
        self.ordinal = ordinal + 1
        is_known = length >= HEAD.size
        key, version, identity = HEAD.unpack_from(data, at) if is_known else UNKNOWN_HEAD
        tokens = self._unanswered.tokens
        if tokens.state is not TokenState.NONE and tokens.takes(key, version):
            self._count_token(ordinal, length)
            return None
        course = self.routing.of((key, version))
        course.tally.frames += 1
        course.tally.frame_bytes += length + LENGTH_BYTES
        if course.is_collected:
            if length + LENGTH_BYTES <= self.shared.limits.collected_bytes:
                return ordinal, course
            self.traffic.too_large += 1
        if key == PRODUCE_KEY:  # perhaps it is not answered
            self._unanswered.expect(data, at, at + length, ordinal)
        else:
            self._unanswered.add(UnansweredRequest(identity, key, version, ordinal))
        return None

    def _count_token(self, ordinal: int, length: int) -> None:
        tally = self.traffic.by_api[UNKNOWN]
        tally.frames += 1
        tally.frame_bytes += length + LENGTH_BYTES
        self._unanswered.add(UnansweredRequest(None, *UNKNOWN, ordinal, is_token=True))

    def found(self, claim: Claim, payload: bytes, pieces: Pieces) -> None:
        ordinal, course = claim
        if course.is_touched:
            other = self.shared.guarded(self.shared.rewriter.request, payload, self.place)
            if other is not None:
                payload, pieces = other, (frame(other),)
        seen = None
        if course.is_shown or course.is_answer_shown:
            seen = SeenRequest(payload, ordinal, place=self.place)
        if seen and course.is_shown:
            self._asked = seen
            steps = self.steps(self.shared.interceptor.request, seen)
            is_sent, self._asked = self._asked is None, None
            if steps is not None:
                self._act(steps, seen, is_sent=is_sent)
                return
        self._unanswered.expect(payload, 0, len(payload), ordinal, seen)
        for piece in pieces:
            self.stream.pass_on(piece)

    def unread(self, claim: Claim, data: bytes) -> None:
        self.traffic.too_large += 1
        (length,) = _LENGTH.unpack_from(data)
        self._unanswered.expect(data, LENGTH_BYTES, LENGTH_BYTES + length, claim[0])

    def refused(self, length: int, rest: bytes) -> None:
        interceptor = self.shared.interceptor
        if not interceptor.is_idle:
            steps = self.steps(lambda bad: interceptor.bad_length(self.place, bad), length)
            if steps is not None:
                self.passes = self._swallow
                self._act(steps, None)
                return
        self.passes(rest)

    def _swallow(self, data: bytes) -> None:
        self.traffic.unparsed_bytes += len(data)

    def end(self) -> None:
        """Pass on what is left: the client has ended."""
        self.finder.catch_up()
        self._has_ended = True
        if not self.shared.interceptor.is_idle and self.finder.pending_bytes:
            self.passes = self._cut
        self.flush()
        self.stream.end()

    def _cut(self, rest: bytes) -> None:
        steps = self.steps(lambda cut: self.shared.interceptor.cut(self.place, cut), rest)
        if steps is None:
            self._pass(rest)
        else:
            self._act(steps, None)

    def act(self, steps: Iterable[Step]) -> None:
        self._act(steps, None)

    def _act(
        self, steps: Iterable[Step], seen: SeenRequest | None, *, is_sent: bool = False
    ) -> None:
        """Do steps in the place of ``seen``; ``is_sent``: it was sent already, with others."""
        out: list[Step | Call] = []
        sent: list[bytes] = []
        for step in steps:
            if isinstance(step, Send):
                sent.append(step.data)
                out.append(step)
            elif isinstance(step, SendBack):
                is_sent |= self._account(b"".join(sent), seen)
                sent.clear()
                out.append(self._send_back(step))
            else:
                self.common(step, out)
        is_sent |= self._account(b"".join(sent), seen)
        if seen and not is_sent:
            self._withhold(seen)
        self.stream.do(out)

    def _send_back(self, step: SendBack) -> Call:
        if self._responses.stream.way.is_over:  # the client is gone
            return Call(_nothing)
        self.lean_on(self._responses)
        data = step.data
        if not step.in_turn:
            return Call(partial(self._responses.put, data), len(data))
        own = self._unanswered.promise()
        self._responses.finder.interrupt = True
        return Call(partial(self._give, own, data), len(data))

    def _give(self, own: OwnAnswer, data: bytes) -> None:
        if not self._responses.stream.way.is_over:
            self._unanswered.give(own, data)
            self._responses.own_is_given()

    def _account(self, data: bytes, seen: SeenRequest | None) -> bool:
        """Expect answers to all frames in ``data``; returns whether ``seen`` is among them."""
        at, is_there = 0, False
        while len(data) - at >= LENGTH_BYTES:
            (length,) = _LENGTH.unpack_from(data, at)
            if length < 0:
                break
            at += LENGTH_BYTES
            if self._has_ended and length > len(data) - at:  # half a request asks nothing
                break
            about = self._about(_correlation_id(data[at : at + HEAD.size]), seen)
            is_there = is_there or about is seen
            ordinal = about.ordinal if about else self.ordinal
            self._unanswered.expect(data, at, at + length, ordinal, about)
            at += length
        return is_there

    def _about(self, identity: int | None, seen: SeenRequest | None) -> SeenRequest | None:
        """Return the request with this correlation id; ``seen`` if no other has it."""
        if seen is not None and identity == _correlation_id(seen.payload):
            return seen
        asked = self._asked
        if asked is not None and identity == _correlation_id(asked.payload):
            self._asked = None
            return asked
        if identity is None or identity not in self._withheld:
            return seen
        return self._let_go(identity)

    def _withhold(self, seen: SeenRequest) -> None:
        identity = _correlation_id(seen.payload)
        if identity is None:
            return
        held = self._withheld
        if identity in held:
            self._let_go(identity)
        held[identity] = seen
        self._withheld_bytes += len(seen.payload)
        while len(held) > WITHHELD or self._withheld_bytes > self.shared.limits.kept_bytes:
            self._let_go(next(iter(held)))

    def _let_go(self, identity: int) -> SeenRequest:
        seen = self._withheld.pop(identity)
        self._withheld_bytes -= len(seen.payload)
        return seen


def _nothing() -> None:
    """Do nothing, in place of an answer that leads nowhere."""


def _correlation_id(payload: bytes) -> int | None:
    return HEAD.unpack_from(payload)[2] if len(payload) >= HEAD.size else None
