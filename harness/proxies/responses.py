"""The downstream direction: responses, each with the request that it answers."""

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
from harness.proxies.seen import SeenConnection, SeenResponse
from harness.proxies.step import Send, SendBack, Step
from harness.proxies.stream import Call, Stream
from harness.proxies.unanswered import Unanswered, UnansweredRequest
from harness.proxies.watching import FrameWatch, Shared

_CORRELATION_ID = struct.Struct(">i")


Claim = tuple[int, UnansweredRequest, Course]
"""A collected response: its ordinal, its request, and its course."""


class ResponseWatch(FrameWatch):
    """The watch of responses; they come in the order of requests."""

    direction = Direction.DOWNSTREAM

    def __init__(
        self,
        stream: Stream,
        traffic: Traffic,
        place: SeenConnection,
        shared: Shared,
        unanswered: Unanswered,
    ) -> None:
        super().__init__(stream, traffic, place, shared)
        self._unanswered = unanswered
        self.requests: FrameWatch  # of the same connection
        self.finder: FrameFinder[Claim] = FrameFinder(self, _CORRELATION_ID.size)

    def tls_text(self, data: bytes) -> str:
        alert = plain_alert(data)
        if not alert:
            return ""
        reason = "" if self.requests.is_tls else ", in answer to plain bytes: a TLS listener"
        return f"TLS alert of the broker: {alert}{reason}"

    def begins(self, data: bytes, at: int, length: int) -> Claim | None:
        ordinal = self.ordinal
        self.ordinal = ordinal + 1
        correlation_id = None
        if length >= _CORRELATION_ID.size:
            (correlation_id,) = _CORRELATION_ID.unpack_from(data, at)
        sent = self._unanswered.answered(correlation_id)
        # A response to no request, or to a token, is of no kind, so it is never shown.
        course = self.routing.of(sent[1:3]) if sent and not sent.is_token else None
        tally = course.tally if course else self.traffic.by_api[UNKNOWN]
        tally.frames += 1
        tally.frame_bytes += length + LENGTH_BYTES
        if sent is None or course is None or not course.is_collected:
            return None
        if length + LENGTH_BYTES > self.shared.limits.collected_bytes:
            self.traffic.too_large += 1
            return None
        return ordinal, sent, course

    def found(self, claim: Claim, payload: bytes, pieces: Pieces) -> None:
        ordinal, sent, course = claim
        if course.is_touched:
            rewriter, kind = self.shared.rewriter, sent[1:3]
            other = self.shared.guarded(rewriter.response, payload, kind, self.place)
            if other is not None:
                payload, pieces = other, (frame(other),)
        if course.is_shown:
            seen = SeenResponse(payload, sent.request(self.place), ordinal)
            steps = self.steps(self.shared.interceptor.response, seen)
            if steps is not None:
                self.act(steps)
                return
        for piece in pieces:
            self.stream.pass_on(piece)

    def unread(self, claim: Claim, data: bytes) -> None:  # noqa: ARG002
        self.traffic.too_large += 1

    def act(self, steps: Iterable[Step]) -> None:
        out: list[Step | Call] = []
        for step in steps:
            if isinstance(step, SendBack):
                self.lean_on(self.requests)
                out.append(Call(partial(self.requests.put, step.data), len(step.data)))
            else:
                self.common(step, out)
        self.stream.do(out)

    def between(self) -> None:
        for data in self._unanswered.own_due():
            self.stream.do([Send(data)])
        super().between()

    @property
    def held_bytes(self) -> int:
        return super().held_bytes + self._unanswered.own_bytes

    def is_full(self) -> bool:
        if self.stream.way.is_over:
            return False
        return super().is_full() or self._unanswered.own_bytes > self.shared.limits.held_bytes

    def wants_interrupt(self) -> bool:
        return self._unanswered.own_count > 0

    def own_is_given(self) -> None:
        """Send own answers that are due: one more is there."""
        self.finder.interrupt = True
        if self.finder.is_between:
            self.between()

    def end(self, *, ask: bool = True) -> None:
        """Pass on what is left: the broker has ended.

        ``ask``: ask the interceptor for steps in place of a missing answer.
        """
        if self.requests.is_tls and not self.has_begun:
            text = "the broker ended the connection at the client's TLS, as a plain listener does"
            self.shared.tls_seen(self.place, self.direction, text)
        self.flush()
        waiting = self._unanswered.first()
        for data in self._unanswered.own_due(all_of_them=True):
            self.stream.do([Send(data)])
        interceptor = self.shared.interceptor
        if waiting and ask and not interceptor.is_idle:
            steps = self.steps(interceptor.ended, waiting.request(self.place))
            if steps:
                self.act(steps)
        self.stream.end()
