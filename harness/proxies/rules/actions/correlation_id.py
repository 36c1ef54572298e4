"""The correlation id is another one."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from harness.proxies.rules.actions.action import Occasion, RuleAction, payload_of, send, setting
from harness.proxies.rules.errors import RuleError, Skip
from harness.proxies.rules.frame_view import FrameView
from harness.proxies.rules.scope import Scope
from harness.proxies.rules.values import INT32, integer
from harness.proxies.step import Step

_ID = struct.Struct(">i")
_ALL = 2**32


@dataclass(frozen=True, slots=True)
class SetCorrelationId(RuleAction):
    """``to`` a number, or ``by`` so much more or less (beyond int32 it begins again)."""

    name = "set_correlation_id"
    short = "to"
    to: int | None = setting(integer(*INT32), None)
    by: int | None = setting(integer(*INT32), None)

    def check(self, scope: Scope) -> None:  # noqa: ARG002
        if (self.to is None) == (self.by is None):
            raise RuleError("needs one of the two, to or by")

    def steps(self, occasion: Occasion, data: bytes) -> Sequence[Step]:
        payload = payload_of(data)
        if self.to is not None:
            return send(with_id(occasion.frame, payload, self.to))
        old = id_of(occasion.frame, payload) + (self.by or 0)
        return send(with_id(occasion.frame, payload, (old - INT32[0]) % _ALL + INT32[0]))


def id_of(frame: FrameView, payload: bytes) -> int:
    """Raises Skip where the frame is too short to have one."""
    if len(payload) < frame.correlation_at + _ID.size:
        raise Skip("the frame is too short for a correlation id")
    found: int = _ID.unpack_from(payload, frame.correlation_at)[0]
    return found


def with_id(frame: FrameView, payload: bytes, new: int) -> bytes:
    """The payload with another correlation id. Raises Skip like ``id_of``."""
    id_of(frame, payload)
    at = frame.correlation_at
    return payload[:at] + _ID.pack(new) + payload[at + _ID.size :]
