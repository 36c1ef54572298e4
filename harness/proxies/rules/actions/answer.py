"""The proxy answers in the broker's place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.codec import CodecError
from harness.codec.dictionary_form import from_dict
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.structs import Message
from harness.proxies.direction import Direction
from harness.proxies.rules.actions.action import Occasion, RuleAction, setting
from harness.proxies.rules.error_answer import error_answer
from harness.proxies.rules.errors import RuleError, Skip
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.scope import Scope
from harness.proxies.rules.values import error_number, hexadecimal
from harness.proxies.step import Send, SendBack, Step


def _message(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RuleError(f"must be a message, as a table of its fields; is {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class AnswerInstead(RuleAction):
    """A request does not reach the broker and is answered; a response (the broker has done what
    was asked) is replaced. ``error``: for everything that the request names; ``message``: in the
    dictionary form; ``hex``: any bytes behind the length, correlation id and all.
    """

    name = "answer"
    short = "error"
    keeps = True
    error: int | None = setting(error_number, None)
    message: Mapping[str, Any] | None = setting(_message, None)
    hex: bytes | None = setting(hexadecimal, None)

    def check(self, scope: Scope) -> None:
        if sum(one is not None for one in (self.error, self.message, self.hex)) != 1:
            raise RuleError("needs one of error, message and hex")
        if self.message is None:
            return
        if len(scope.apis) != 1:
            raise RuleError("is of one API: the rule needs it as api = ...", "message")
        cls = scope.apis[0].response
        problems = []
        for version in scope.versions_of(cls):
            try:
                from_dict(cls, version, self.message)
            except CodecError as error:
                problems.append(str(error))
            else:
                return
        raise RuleError(problems[-1], "message")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:  # noqa: ARG002
        seen = occasion.frame
        upstream = seen.direction is Direction.UPSTREAM
        if upstream and not seen.request.gets_answer:
            raise Skip("a Produce with acks 0 gets no answer")
        answer = frame(self.hex if self.hex is not None else self._payload(seen))
        return [SendBack(answer) if upstream else Send(answer)]

    def _payload(self, seen: FrameView) -> bytes:
        correlation_id = seen.correlation_id
        if seen.api is None or correlation_id is None:
            raise Skip(f"{seen.api_name} v{seen.version} is not known")
        try:
            message = self._made(seen, seen.api.response)
            return encode_response(message, seen.version, correlation_id)
        except CodecError as error:
            raise Skip(str(error)) from None

    def _made(self, seen: FrameView, cls: type[Message]) -> Message:
        if self.message is not None:
            return from_dict(cls, seen.version, self.message)
        request = seen.request.message
        if request is None:
            raise Skip("the request cannot be read")
        assert self.error is not None
        return error_answer(request, cls, seen.version, self.error)
