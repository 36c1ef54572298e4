"""Frame rules as an interceptor, so that the one engine runs them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.frame import frame
from harness.proxies.direction import Direction
from harness.proxies.interceptor import Interceptor
from harness.proxies.rule import FrameRule
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse
from harness.proxies.step import Send, SendBack, Step


class FrameRuleInterceptor(Interceptor):
    """Wants every frame, and shows it to the rule."""

    is_idle = False

    def __init__(self, rule: FrameRule) -> None:
        self.rule = rule

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        return True

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:
        forwarded = self.rule.on_request(seen)
        if forwarded is None:
            return []
        return None if forwarded == seen.payload else [_frame(forwarded)]

    def response(self, seen: SeenResponse) -> Sequence[Step]:
        return [_frame(out) for out in self.rule.on_response(seen.request, seen.payload)]

    def ended(self, unanswered: SeenRequest) -> Sequence[Step]:
        return [_frame(out) for out in self.rule.on_close(unanswered)]

    def cut(self, place: SeenConnection, rest: bytes) -> Sequence[Step]:  # noqa: ARG002
        return [Send(_require_bytes(self.rule.on_cut(rest)))]

    def bad_length(self, place: SeenConnection, length: int) -> Sequence[Step] | None:  # noqa: ARG002
        answer = self.rule.on_bad_length(length)
        return None if answer is None else [SendBack(_require_bytes(answer), in_turn=False)]


def _frame(payload: bytes) -> Send:
    return Send(frame(_require_bytes(payload)))


def _require_bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"a rule must return bytes, not {value!r}")
    return value
